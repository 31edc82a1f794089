import { readNameAddr } from '@trunkline/sip-agent/message'
import { parseSipUri, type SipUri } from '../../core/sip-uri.ts'
import { splitList } from '../headers.ts'

/** One contact of a REGISTER. */
export interface Contact {
  /** URI without its headers. */
  readonly uri: SipUri
  /** Seconds of the contact's own `expires`; undefined if missing or malformed (RFC 3261 section 20.19). */
  readonly expires: number | undefined
  /** 0 to 1; default 1. */
  readonly q: number
  /** `+sip.instance`, with its angle brackets (RFC 5626 section 4.1). */
  readonly instance: string | undefined
  /** Flow of the instance; undefined without an instance (RFC 5626 section 6). */
  readonly regId: number | undefined
}

/** Maximum length of a Contact header that is read, in characters. */
const maxHeaderLength = 8_192

/**
 * Reads the Contact header of a REGISTER, whose fields are joined with commas. Returns a list (empty without
 * the header), `*`, or a text that names what was expected.
 */
export const readContacts = (
  header: string | undefined,
): readonly Contact[] | '*' | { readonly expected: string } => {
  const text = header?.trim() ?? ''
  if (text === '') return []
  if (text === '*') return '*'
  if (text.length > maxHeaderLength) return { expected: `a Contact of at most ${maxHeaderLength} characters` }
  const parts = splitList(text)
  // A quote or bracket is not closed. A REGISTER without contacts, which is a query, has no Contact header.
  if (parts.length === 0) return { expected: 'SIP addresses in Contact' }
  const contacts: Contact[] = []
  for (const part of parts) {
    const contact = readContact(part)
    if (!contact) return { expected: 'SIP addresses in Contact' }
    contacts.push(contact)
  }
  return contacts
}

const readContact = (text: string): Contact | undefined => {
  const address = readNameAddr(text)
  const uri = address && parseSipUri(address.uri)
  if (!address || !uri) return undefined
  const { params } = address
  const instance = quoted(params.get('+sip.instance'))
  const regId = instance === undefined ? undefined : wholeNumber(params.get('reg-id'))
  return {
    uri,
    expires: wholeNumber(params.get('expires')),
    q: readQ(params.get('q')),
    instance,
    regId: regId !== undefined && regId >= 1 && regId < 2 ** 31 ? regId : undefined,
  }
}

const quoted = (value: string | undefined): string | undefined => {
  const inner = /^"(<[^<>"\\\s]{1,200}>)"$/.exec(value ?? '')
  return inner?.[1]
}

/** Returns the seconds of an Expires header or parameter, at most 2^31; undefined if they are no number. */
export const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,20}$/.test(text.trim()) ? Math.min(Number(text), 2 ** 31) : undefined

const readQ = (text: string | undefined): number =>
  text !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 1
