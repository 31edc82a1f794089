/** A place in a text, both numbers 1-based. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** The place of an offset in a text whose lines end with `\n`. */
export const placeAt = (text: string, offset: number): Place => new Places(text).at(offset)

/** Finds many places in one text. */
export class Places {
  /** Offsets at which lines begin. */
  #lines: readonly number[]

  constructor(text: string) {
    this.#lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  }

  /** The place of an offset; a negative one is the beginning. */
  at(offset: number): Place {
    let [low, high] = [0, this.#lines.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#lines[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: Math.max(0, offset) - (this.#lines[low] ?? 0) + 1 }
  }
}

/** The offset of an attribute's name inside the start tag at `tag`; the tag's own offset when it is not found. */
export const attributeOffset = (text: string, tag: number, name: string): number => {
  // Quoted values are stepped over, so that a name inside another attribute's value is not mistaken for this one.
  const pattern = /\s([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')|>/g
  pattern.lastIndex = tag
  for (let match = pattern.exec(text); match && match[0] !== '>'; match = pattern.exec(text)) {
    if (match[1] === name) return match.index + 1
  }
  return tag
}
