/**
 * Classes of characters of RFC 3261 25.1, as bits. They are looked up in a table: over a value of a few characters that is several
 * times faster than a regular expression, and a message has about a hundred such values.
 */
export const characterClasses = {
  /** `token`. */
  token: 1,
  /** User part of a URI with its password, besides escapes. `#` is not allowed bare by the grammar, but carriers send it for star codes. */
  user: 2,
  /** Name or value of a URI parameter, besides escapes. */
  uriParam: 4,
  /** What follows `?` in a URI, besides escapes. */
  uriHeaders: 8,
  /** A label of a host name; the underscore is no part of the grammar, but of many names. */
  label: 16,
  digit: 32,
  hex: 64,
  letter: 128,
} as const

/** The kinds in which `%` and two hexadecimal digits may stand for any character. */
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

/** Tells whether the character at `at` is of this kind; false beyond the end. */
export const isAt = (text: string, at: number, kind: number): boolean => {
  const code = text.charCodeAt(at)
  return code < 128 && ((table[code] as number) & kind) !== 0
}

/** Tells whether `text` is made of characters of this kind alone, and not empty. URI kinds may hold escapes (`%41`). */
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

/** A part of `text` without white space around it, like `trim`, which is slower for what has none or only blanks. */
export const trim = (text: string, from = 0, to = text.length): string => {
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  const piece = from === 0 && to === text.length ? text : text.slice(from, to)
  return isPlain(piece.charCodeAt(0)) && isPlain(piece.charCodeAt(piece.length - 1)) ? piece : piece.trim()
}

const isBlank = (code: number) => code === 32 || code === 9

/** Neither white space of any kind nor, as `NaN`, nothing at all. */
const isPlain = (code: number) => code > 32 && code < 128

/** `text` in lower case, without a copy where it is that already. */
export const toLowerCase = (text: string): string => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code >= 65 && code <= 90) || code > 127) return text.toLowerCase()
  }
  return text
}
