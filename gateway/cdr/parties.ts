import { parseSipUri, shownUri, userOf } from '../core/sip-uri.ts'

/**
 * Whom a call is from or to, as it is written down: the URI or address without a password, and the number or
 * name in it, which it is found by.
 */
export const partyOf = (text: string): { readonly uri: string; readonly user: string } => {
  const uri = shownUri(printed(text))
  const parsed = parseSipUri(uri)
  return { uri, user: (parsed && userOf(parsed)) || uri }
}

/** What of a party a filter asks for: a URI is compared as a whole, anything else with the number or name. */
export const partyFilter = (text: string | undefined): { readonly user?: string; readonly uri?: string } => {
  if (text === undefined) return {}
  const { uri, user } = partyOf(text)
  return user === uri ? { user } : { user, uri }
}

/** Without what no store takes. */
export const printed = (text: string): string => text.replaceAll('\0', '')
