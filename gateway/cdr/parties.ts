import { parseSipUri, shownUri, userOf } from '../core/sip-uri.ts'

/**
 * Returns a caller or callee as stored: the URI or address without a password, and its number or name for
 * searches.
 */
export const partyOf = (text: string): { readonly uri: string; readonly user: string } => {
  const uri = shownUri(printed(text))
  const parsed = parseSipUri(uri)
  return { uri, user: (parsed && userOf(parsed)) || uri }
}

/** Returns the filter for a party: a URI matches as a whole, other text matches the number or name. */
export const partyFilter = (text: string | undefined): { readonly user?: string; readonly uri?: string } => {
  if (text === undefined) return {}
  const { uri, user } = partyOf(text)
  return user === uri ? { user } : { user, uri }
}

/** Returns a text without null characters, which databases reject. */
export const printed = (text: string): string => text.replaceAll('\0', '')
