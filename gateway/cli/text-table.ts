import { escapedText } from '../core/readable-log.ts'

/** Returns rows as lines with aligned columns. Control characters in values are escaped. */
export const textTable = (rows: readonly (readonly string[])[]): readonly string[] => {
  const cells = rows.map((row) => row.map(escapedText))
  const widths = cells.reduce<number[]>(
    (known, row) => row.map((cell, at) => Math.max(known[at] ?? 0, cell.length)),
    [],
  )
  return cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
