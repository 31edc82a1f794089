import { readNameAddr } from '@trunkline/sip-agent/message'
import { parseSipUri, type SipUri } from '../../core/sip-uri.ts'
import { splitList } from '../headers.ts'

/** Maximum number of contacts of one redirection that are read. */
const maxContacts = 5

/**
 * Returns the SIP URIs in the Contact of a redirection, highest `q` first (RFC 3261 section 20.10). Other
 * URIs are left out.
 */
export const contactsOf = (value: string): readonly SipUri[] =>
  splitList(value)
    .slice(0, maxContacts)
    .map((entry) => {
      const address = readNameAddr(entry)
      const uri = address && parseSipUri(address.uri)
      const q = address?.params.get('q') ?? ''
      return { uri, q: /^[01](?:\.\d{1,3})?$/.test(q) ? Number(q) : 1 }
    })
    .sort((a, b) => b.q - a.q)
    .flatMap(({ uri }) => (uri ? [uri] : []))
