import type { CarrierIdentity } from '../../../config/types.ts'
import { parseSipUri, userOf } from '../../core/sip-uri.ts'
import { escapedUser, fromHeader, quotedName } from '../headers.ts'
import type { Headers } from '../srf.ts'

/** Caller identity that an outbound leg presents. */
export interface PresentedCaller {
  readonly user: string
  readonly name: string
  /** SIP URI for From, if a document has set one. */
  readonly uri?: string
  /** Whether the caller's identity must be hidden from callees. */
  readonly private: boolean
}

/** Identity rules of one carrier. */
export interface IdentityRules {
  readonly identity: CarrierIdentity
  /** User name of the carrier's digest credentials. */
  readonly username: string | undefined
  /** Host of the carrier, for headers that assert an identity to that carrier. */
  readonly host: string
}

const anonymous = { user: 'anonymous', name: 'Anonymous' }
const anonymousUri = 'sip:anonymous@anonymous.invalid'

/**
 * Returns From and Privacy for a direct call. For a caller with a private identity, From is anonymous (RFC
 * 3323 section 4.1).
 */
export const directIdentityHeaders = ({ user, name, uri, private: hidden }: PresentedCaller): Headers =>
  hidden
    ? { From: fromHeader(anonymous, anonymousUri), Privacy: 'id' }
    : { From: fromHeader({ user, name }, uri) }

/**
 * Returns From, the asserted identity and Privacy for a carrier. From is anonymous for a caller with a
 * private identity; only the header of `identity.header` names the caller to the carrier (RFC 3325 section
 * 9.3). A From that names the trunk is not made anonymous, because carriers identify the customer by it.
 */
export const carrierIdentityHeaders = (caller: PresentedCaller, rules: IdentityRules): Headers => {
  const hidden = caller.private
  return {
    From: fromOf(caller, rules),
    ...assertion(caller, rules),
    ...(hidden && { Privacy: 'id' }),
  }
}

const fromOf = (caller: PresentedCaller, { identity, username }: IdentityRules): string => {
  const { private: hidden, user, uri } = caller
  const name = hidden ? anonymous.name : caller.name
  const fixed =
    identity.from === 'username' ? username : identity.from === 'caller' ? undefined : identity.from.user
  if (fixed !== undefined) return fromHeader({ user: fixed, name }, addressAt(identity.host, fixed))
  if (hidden) return fromHeader(anonymous, anonymousUri)
  const given = uri === undefined ? undefined : parseSipUri(uri)
  if (given && identity.host === undefined) return fromHeader({ user, name }, uri)
  const callerUser = given ? userOf(given) : user
  return fromHeader({ user: callerUser, name }, addressAt(identity.host, callerUser))
}

const assertion = (caller: PresentedCaller, { identity, host }: IdentityRules): Headers => {
  const given = caller.uri === undefined ? undefined : parseSipUri(caller.uri)
  const user = given ? userOf(given) : caller.user
  const address = addressAt(identity.host ?? host, user)
  if (identity.header === 'none' || address === undefined) return {}
  const value = `${quotedName(caller.name)}<${address}>`
  if (identity.header === 'remote-party-id') {
    const privacy = caller.private ? 'full' : 'off'
    return { 'Remote-Party-ID': `${value};party=calling;screen=yes;privacy=${privacy}` }
  }
  const name = identity.header === 'p-asserted-identity' ? 'P-Asserted-Identity' : 'P-Preferred-Identity'
  return { [name]: value }
}

const addressAt = (host: string | undefined, user: string): string | undefined => {
  const escaped = escapedUser(user)
  if (host === undefined || escaped === '') return undefined
  return `sip:${escaped}@${host.includes(':') ? `[${host}]` : host}`
}
