/** Maximum length of a language tag, in characters (RFC 5646 section 4.4.1). */
const maxTagLength = 35

/**
 * Whether a text is a syntactically valid language tag (RFC 5646), with `-` or `_` as separator. Documents
 * are untrusted: in a URL path a value like `..` would change the target, and in cache keys its length
 * matters.
 */
export const isLanguage = (text: string): boolean =>
  text.length <= maxTagLength && /^[A-Za-z0-9]{1,8}(?:[-_][A-Za-z0-9]{1,8})*$/.test(text)
