/** Position in a text; both numbers are 1-based. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** Returns the position of an offset in a text whose lines end with `\n`. */
export const positionAt = (text: string, offset: number): TextPosition => new LineIndex(text).at(offset)

/** Index of the lines of one text, for many look-ups of positions. */
export class LineIndex {
  /** Offsets of the starts of lines. */
  #lines: readonly number[]

  constructor(text: string) {
    this.#lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  }

  /** Returns the position of an offset; a negative offset is the start of the text. */
  at(offset: number): TextPosition {
    let low = 0
    let high = this.#lines.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#lines[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: Math.max(0, offset) - (this.#lines[low] ?? 0) + 1 }
  }
}

/**
 * Returns the offset of an attribute's name in the start tag at `tag`, or `tag` if the attribute is not
 * found.
 */
export const attributeOffset = (text: string, tag: number, name: string): number => {
  // Skips quoted values, so that a name inside another attribute's value does not match.
  const pattern = /\s([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')|>/g
  pattern.lastIndex = tag
  for (let match = pattern.exec(text); match && match[0] !== '>'; match = pattern.exec(text)) {
    if (match[1] === name) return match.index + 1
  }
  return tag
}
