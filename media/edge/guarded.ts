/** Tells a listener. The edge goes on whatever it makes of what it is told; but the defect is not hidden. */
export function guarded(tell: () => void): void {
  try {
    tell()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
