/** Pairs of marks around words that are spoken as they are. */
const marks = [
  ['<<<', '>>>'],
  ['"', '"'],
  ['“', '”'],
] as const

/**
 * Returns the marked text of an instruction, such as `Say exactly: "Hello."`. A real model understands
 * such an instruction; a stand-in speaks the text between the marks.
 */
export const quotedText = (instruction: string): string | undefined => {
  for (const [opening, closing] of marks) {
    const start = instruction.indexOf(opening)
    const end = instruction.lastIndexOf(closing)
    const text = start === -1 ? '' : instruction.slice(start + opening.length, Math.max(0, end)).trim()
    if (text !== '') return text
  }
  return undefined
}
