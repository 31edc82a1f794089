/** Line with its present source; undefined if it never had one, or lost it. */
type Line = string | undefined

/**
 * Assigns wanted sources to lines. Wanted sources keep their lines. A new one takes a line without a source,
 * or else that of a source that is not wanted. `unwanted`: indexes of lines whose source is not wanted, the
 * first to be taken first. Sources beyond the lines are left out. Returns the sources by line.
 */
export const assignLines = (
  lines: readonly Line[],
  wanted: readonly string[],
  unwanted: readonly number[],
): readonly Line[] => {
  const shown = [...new Set(wanted)].slice(0, lines.length)
  const assigned = [...lines]
  const free = [
    ...lines.flatMap((id, index) => (id === undefined ? [index] : [])),
    ...unwanted.filter((index) => lines[index] !== undefined && !shown.includes(lines[index])),
    // Lines that became unwanted with this change.
    ...lines.flatMap((id, index) =>
      id !== undefined && !shown.includes(id) && !unwanted.includes(index) ? [index] : [],
    ),
  ]
  for (const id of shown) {
    if (lines.includes(id)) continue
    const index = free.shift()
    if (index !== undefined) assigned[index] = id
  }
  return assigned
}
