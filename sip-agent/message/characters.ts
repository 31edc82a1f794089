/**
 * Classes of characters of RFC 3261 25.1, as bits of a table. For short values a table is several times
 * faster than a regular expression, and a message has about a hundred such values.
 */
export const characterClasses = {
  /** `token`. */
  token: 1,
  /**
   * User part of a URI with its password, without escapes. The grammar does not allow a bare `#`, but
   * carriers send it for star codes.
   */
  user: 2,
  /** Name or value of a URI parameter, without escapes. */
  uriParam: 4,
  /** Headers of a URI, after `?`, without escapes. */
  uriHeaders: 8,
  /** Label of a host name. The grammar does not allow the underscore, but many names have it. */
  label: 16,
  digit: 32,
  hex: 64,
  letter: 128,
} as const

/** Classes in which `%` and two hexadecimal digits may stand for any character. */
const escapable = characterClasses.user | characterClasses.uriParam | characterClasses.uriHeaders

const digits = '0123456789'
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const alphanumeric = digits + letters
const members: Readonly<Record<keyof typeof characterClasses, string>> = {
  token: `${alphanumeric}-.!%*_+\`'~`,
  user: `${alphanumeric}-_.!~*'()&=+$,;?/#:`,
  uriParam: `${alphanumeric}-_.!~*'()[]/:&+$`,
  uriHeaders: `${alphanumeric}-_.!~*'()[]/?:+$&=`,
  label: `${alphanumeric}-_`,
  digit: digits,
  hex: `${digits}ABCDEFabcdef`,
  letter: letters,
}

const table = new Uint8Array(128)
for (const [name, text] of Object.entries(members)) {
  for (const character of text)
    table[character.charCodeAt(0)]! |= characterClasses[name as keyof typeof characterClasses]
}

/** Returns whether the character at `at` is of this class; false beyond the end. */
export const isAt = (text: string, at: number, kind: number): boolean => {
  const code = text.charCodeAt(at)
  return code < 128 && ((table[code] as number) & kind) !== 0
}

/**
 * Returns whether a text is not empty and has only characters of this class. URI classes may hold escapes
 * (`%41`).
 */
export const consistsOf = (text: string, kind: number): boolean => {
  const { length } = text
  if (length === 0) return false
  for (let i = 0; i < length; i++) {
    if (isAt(text, i, kind)) continue
    if (text.charCodeAt(i) !== 37 || (kind & escapable) === 0) return false
    if (!isAt(text, i + 1, characterClasses.hex) || !isAt(text, i + 2, characterClasses.hex)) return false
    i += 2
  }
  return true
}

/**
 * Returns a part of a text without surrounding white space. Faster than `trim` if there is no white space, or
 * only blanks.
 */
export const trim = (text: string, from = 0, to = text.length): string => {
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  const piece = from === 0 && to === text.length ? text : text.slice(from, to)
  return isPlain(piece.charCodeAt(0)) && isPlain(piece.charCodeAt(piece.length - 1)) ? piece : piece.trim()
}

const isBlank = (code: number) => code === 32 || code === 9

/** Returns whether a character code is neither white space nor `NaN`, the code for an empty text. */
const isPlain = (code: number) => code > 32 && code < 128

/** Returns a text in lower case; the text itself if it is in lower case already. */
export const toLowerCase = (text: string): string => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code >= 65 && code <= 90) || code > 127) return text.toLowerCase()
  }
  return text
}
