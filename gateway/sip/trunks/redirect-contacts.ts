import { parseNameAddress, parseSipUri, type SipUri } from '../../core/sip-uri.ts'
import { splitList } from '../headers.ts'

/** Contacts of one redirection that are looked at. */
const maxContacts = 5

/**
 * Returns the SIP URIs of a redirection's Contact by falling preference (RFC 3261 section 20.10, `q`). Other
 * URIs are left out.
 */
export const contactsOf = (value: string): readonly SipUri[] =>
  splitList(value)
    .slice(0, maxContacts)
    .map((entry) => {
      const address = parseNameAddress(entry)
      const uri = address && parseSipUri(address.uri)
      const q = Number(/;\s*q\s*=\s*([01](?:\.\d{1,3})?)\s*(?:;|$)/i.exec(address?.params ?? '')?.[1] ?? 1)
      return { uri, q }
    })
    .sort((a, b) => b.q - a.q)
    .flatMap(({ uri }) => (uri ? [uri] : []))
