import { isLanguage } from '../../media/sound/language.ts'

/**
 * Returns the entry for a language by RFC 4647 section 3.4, ignoring case: `de-AT-1996`, otherwise `de-AT`,
 * otherwise `de`. Returns undefined if no entry matches or the language is malformed.
 */
export const urlOf = (
  language: string | undefined,
  table: Readonly<Record<string, string>>,
): string | undefined => {
  const entries = new Map(Object.entries(table).map(([tag, url]) => [tag.toLowerCase(), url]))
  const asked = language?.trim().toLowerCase() ?? ''
  let tag = isLanguage(asked) ? asked : ''
  while (tag !== '') {
    const found = entries.get(tag)
    if (found !== undefined) return found
    tag = tag.slice(0, Math.max(0, tag.lastIndexOf('-')))
  }
  return undefined
}
