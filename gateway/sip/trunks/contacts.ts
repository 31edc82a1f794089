import { parseNameAddress, parseSipUri, type SipUri } from '../../core/sip-uri.ts'

/** Contacts of one redirection that are looked at. */
const mostContacts = 5

/** The SIP URIs of a redirection's Contact, the most wanted first (RFC 3261 section 20.10, `q`). What is no SIP URI is left out. */
export const contactsOf = (value: string): readonly SipUri[] =>
  splitList(value)
    .slice(0, mostContacts)
    .map((entry) => {
      const address = parseNameAddress(entry)
      const uri = address && parseSipUri(address.uri)
      const q = Number(/;\s*q\s*=\s*([01](?:\.\d{1,3})?)\s*(?:;|$)/i.exec(address?.params ?? '')?.[1] ?? 1)
      return { uri, q }
    })
    .sort((a, b) => b.q - a.q)
    .flatMap(({ uri }) => (uri ? [uri] : []))

/** Maximum length of a list that is read, in characters. */
const maxListLength = 8_192

/**
 * Returns the entries of a list, trimmed. Separators within quotes and angle brackets count as text. Returns none if a quote or a bracket
 * is not closed, or if the list is longer than 8,192 characters. Empty entries are left out.
 */
export const splitList = (value: string, separator: ',' | ';' = ','): readonly string[] => {
  if (value.length > maxListLength) return []
  const entries: string[] = []
  let start = 0
  let closing = ''
  for (let at = 0; at < value.length; at++) {
    const character = value[at]
    if (closing === '"' && character === '\\') at++
    else if (closing !== '') closing = character === closing ? '' : closing
    else if (character === '"') closing = '"'
    else if (character === '<') closing = '>'
    else if (character === separator) {
      entries.push(value.slice(start, at))
      start = at + 1
    }
  }
  if (closing !== '') return []
  return [...entries, value.slice(start)].filter((entry) => entry !== '').map((entry) => entry.trim())
}
