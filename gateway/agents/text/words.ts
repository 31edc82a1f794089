/** Characters and words of any language, without regular expressions on long texts. */

const wordCharacter = /[\p{L}\p{M}\p{N}]/u

/** Whether a character (a code point) belongs to a word: letter, mark or digit. */
export const isWordCharacter = (character: string): boolean => wordCharacter.test(character)

/**
 * Returns the words of a text in lower case, without punctuation. Apostrophes are dropped, and hyphens
 * separate: `Don't, mm-hm` is `dont`, `mm`, `hm`.
 */
export const wordsOf = (text: string): string[] => {
  const words: string[] = []
  let word = ''
  for (const character of text.toLowerCase()) {
    if (isWordCharacter(character)) word += character
    else if (character !== "'" && character !== '’' && word !== '') {
      words.push(word)
      word = ''
    }
  }
  if (word !== '') words.push(word)
  return words
}

/** Primary subtag of a BCP 47 tag in lower case, for instance `en`; empty if absent or `multi`. */
export const primaryLanguage = (tag: string | undefined): string => {
  const primary = tag?.toLowerCase().split('-')[0] ?? ''
  return primary === 'multi' ? '' : primary
}

/** Returns the words and phrases of a list that is written with commas. */
export const wordList = (...parts: readonly string[]): string[] => parts.join(',').split(',')
