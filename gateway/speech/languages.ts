import { isLanguage } from '../../media/sound/language.ts'

/**
 * The entry for a language by RFC 4647 section 3.4: `de-AT-1996`, else `de-AT`, else `de`; case is ignored. Undefined where there is none,
 * no language was asked for, or what was is not written as one.
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
