import { dividedText } from './clauses.ts'
import { wordsOf } from './words.ts'

/**
 * Returns the part of a text to say again, if only its beginning could be spoken: from the first clause that
 * was not spoken whole. Empty if nothing is left. `spoken` may be written differently; its words count.
 */
export const unheardText = (text: string, spoken: string): string => {
  let left = wordsOf(spoken).length
  const clauses = dividedText(text)
  const first = clauses.findIndex((clause) => {
    left -= wordsOf(clause).length
    return left < 0
  })
  return first < 0 ? '' : clauses.slice(first).join(' ')
}
