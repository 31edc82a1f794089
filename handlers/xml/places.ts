/** A place in a text, both numbers 1-based. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** The place of an offset in a text whose lines end with `\n`. */
export const placeAt = (text: string, offset: number): Place => {
  const before = text.slice(0, Math.max(0, offset))
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
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
