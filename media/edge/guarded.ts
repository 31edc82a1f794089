/** Calls a listener. An error is reported as a process warning and does not disturb the edge. */
export function guarded(tell: () => void): void {
  try {
    tell()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
