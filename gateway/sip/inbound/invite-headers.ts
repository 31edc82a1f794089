import { readNameAddr } from '@trunkline/sip-agent/message'
import { parseSipUri, parseTelUri, shownUri, userOf } from '../../core/sip-uri.ts'
import type { Party } from '../../model.ts'
import { printable, splitList } from '../headers.ts'
import type { SipRequest } from '../srf.ts'

type Message = Pick<SipRequest, 'get' | 'msg'>

/**
 * Headers of an INVITE that the call keeps besides `X-…`. Those of `trustedOnly` are kept from trusted
 * sources only.
 */
const kept = ['Privacy', 'Diversion', 'History-Info', 'P-Asserted-Identity']
const trustedOnly = new Set(['Diversion', 'History-Info', 'P-Asserted-Identity'])
/** Form of header names that the call keeps: the names appear in logs, callbacks and outbound INVITEs. */
const nameForm = /^[A-Za-z0-9-]{1,64}$/
/** Maximum number of headers that are kept of one INVITE, and maximum length of one in characters. */
const maxHeaders = 64
const maxValueLength = 1_024

/**
 * Values of Privacy that hide the caller from untrusted parties (RFC 3323 section 4.2, RFC 3325 section 9.3).
 */
const hiding = new Set(['id', 'user', 'header'])

/**
 * Returns the caller: the identity that a `trusted` source asserts (RFC 3325 section 5), or else From, which
 * can have any content. Returns undefined if From has no address.
 */
export const callerOf = (message: Message, trusted: boolean): Party | undefined => {
  const from = readNameAddr(message.get('From') ?? '')
  if (!from) return undefined
  const asserted = trusted ? assertedOf(message) : undefined
  const { uri, name } = asserted ?? from
  const hidden = isHidden(message, from.uri)
  return { uri: shownUri(uri), user: userIn(uri), name, ...(hidden && { private: true }) }
}

/** Returns the asserted identity: the SIP URI if there is one, else the `tel` URI. */
const assertedOf = (message: Message): { readonly uri: string; readonly name: string } | undefined => {
  const all = splitList(message.get('P-Asserted-Identity') ?? '').flatMap((value) => {
    const address = readNameAddr(value)
    return address && userIn(address.uri) !== '' ? [address] : []
  })
  return all.find(({ uri }) => parseSipUri(uri)) ?? all[0]
}

const isHidden = (message: Message, from: string): boolean => {
  const wanted = (message.get('Privacy') ?? '').split(/[;,]/).map((each) => each.trim().toLowerCase())
  return wanted.some((each) => hiding.has(each)) || parseSipUri(from)?.host === 'anonymous.invalid'
}

/** Returns the user part, or the number of a `tel` URI; empty if the URI has neither. */
const userIn = (uri: string): string => {
  const parsed = parseSipUri(uri)
  if (parsed) return userOf(parsed)
  return parseTelUri(uri)?.number ?? ''
}

/**
 * Returns the headers that the call keeps for its handler: `X-…`, and from a `trusted` source also diversions
 * and asserted identities. Handlers would trust the identities, and carriers screen callers by diversions
 * (RFC 5806).
 */
export const keptHeaders = (message: Message, trusted: boolean): { name: string; value: string }[] =>
  Object.entries(message.msg.headers)
    .flatMap(([name, value]) => {
      const known = kept.find((each) => each.toLowerCase() === name.toLowerCase())
      if (!trusted && known !== undefined && trustedOnly.has(known)) return []
      const isExtension = /^x-/i.test(name) && nameForm.test(name)
      return known !== undefined || isExtension ? [{ name: known ?? name, value }] : []
    })
    .slice(0, maxHeaders)
    .map(({ name, value }) => ({ name, value: printable(String(value), maxValueLength) }))

/** Returns Max-Forwards of a request; undefined if it is no number. */
export const maxForwardsOf = (message: Pick<SipRequest, 'get'>): number | undefined => {
  const text = message.get('Max-Forwards')?.trim() ?? ''
  return /^\d{1,3}$/.test(text) ? Math.min(Number(text), 255) : undefined
}
