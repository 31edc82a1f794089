import { parseNameAddress, parseSipUri, type SipUri } from '../uri.ts'

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

const entry = '(?:"(?:[^"\\\\]|\\\\.)*"|<[^>]*>|[^,"<])'
const whole = new RegExp(`^${entry}*(?:,${entry}*)*$`)
const each = new RegExp(`${entry}+`, 'g')

/** Entries of a comma-separated list, with regard to quotes and angle brackets; none where one of those is not closed. */
export const splitList = (value: string): readonly string[] =>
  value.length > 8_192 || !whole.test(value) ? [] : (value.match(each) ?? []).map((text) => text.trim())
