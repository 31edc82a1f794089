/** Longest tag that is looked at, in characters: what RFC 5646 section 4.4.1 has everybody be ready for. */
const longestTag = 35

/**
 * Whether this is written as a language tag (RFC 5646), with `-` or `_` in between. Documents may say anything, which in a path of a URL
 * could lead elsewhere (`..`), and in a table of what is kept be of any length.
 */
export const isLanguage = (text: string): boolean =>
  text.length <= longestTag && /^[A-Za-z0-9]{1,8}(?:[-_][A-Za-z0-9]{1,8})*$/.test(text)
