import type { SipUri } from '../../core/sip-uri.ts'
import type { SignallingSource } from '../signalling-source.ts'
import type { Contact } from './register-contacts.ts'
import { isSameUri } from './same-uri.ts'

/** Registered contact. Times are in milliseconds of the steady clock. */
export interface Binding {
  readonly uri: SipUri
  readonly q: number
  readonly instance: string | undefined
  readonly regId: number | undefined
  readonly callId: string
  readonly seq: number
  readonly expiresAt: number
  readonly source: SignallingSource
}

/** Parsed REGISTER. */
export interface RegisterRequest {
  readonly contacts: readonly Contact[] | '*'
  /** Seconds of its Expires header. */
  readonly expires: number | undefined
  readonly callId: string
  readonly seq: number
  readonly source: SignallingSource
}

/** Limits of registrations. */
export interface BindingLimits {
  readonly minExpiresMs: number
  readonly maxExpiresMs: number
  /** Maximum number of contacts of one endpoint. */
  readonly contacts: number
}

/** Result of a REGISTER: the new bindings, or why nothing changes. */
export type RegisterOutcome =
  | { readonly kind: 'bindings'; readonly bindings: readonly Binding[] }
  | { readonly kind: 'bad'; readonly expected: string }
  | { readonly kind: 'too-brief' }
  | { readonly kind: 'too-many' }
  /**
   * A REGISTER with the same Call-ID and a higher CSeq was applied before (RFC 3261 section 10.3, step 7).
   */
  | { readonly kind: 'out-of-order' }

/** Minimum above which an interval must not be rejected as too brief (RFC 3261 section 10.3, step 7). */
const maxRefusableMs = 3_600_000

/**
 * Applies a REGISTER to the bindings of its endpoint, either completely or not at all (RFC 3261 section 10.3,
 * RFC 5626 section 6).
 */
export const applyRegister = (
  before: readonly Binding[],
  registration: RegisterRequest,
  limits: BindingLimits,
  now: number,
): RegisterOutcome => {
  const { contacts } = registration
  if (contacts === '*') return removeAll(before, registration)
  const adding = contacts.filter((contact) => grantedMs(contact, registration, limits) > 0)
  // A REGISTER with a reg-id may have one contact only (RFC 5626 section 6).
  if (adding.length > 1 && adding.some(({ regId }) => regId !== undefined))
    return { kind: 'bad', expected: 'one contact where there is a reg-id' }
  let old = before
  let added: readonly Binding[] = []
  for (const contact of contacts) {
    const ms = grantedMs(contact, registration, limits)
    if (ms < limits.minExpiresMs && ms > 0 && ms < maxRefusableMs) return { kind: 'too-brief' }
    if (old.some((binding) => isOf(binding, contact) && isStale(binding, registration)))
      return { kind: 'out-of-order' }
    old = old.filter((binding) => !isOf(binding, contact))
    // One request may add a client's new URI and remove the old URI of the same instance.
    added = added.filter(({ uri, regId }) => regId !== contact.regId || !isSameUri(uri, contact.uri))
    if (ms > 0) added = [...added, bindingOf(contact, registration, now + ms)]
  }
  const kept = withinLimit(old, added, limits.contacts)
  return kept ? { kind: 'bindings', bindings: kept } : { kind: 'too-many' }
}

/**
 * Removes the bindings that expire first, to make room for new ones. Otherwise a client that registers a new
 * contact at each start would reach its own limit. Returns undefined if the REGISTER itself has more contacts
 * than the limit.
 */
const withinLimit = (
  old: readonly Binding[],
  added: readonly Binding[],
  limit: number,
): readonly Binding[] | undefined => {
  const over = Math.max(0, old.length + added.length - limit)
  if (old.length < over) return undefined
  // Bindings without an instance are removed first: they accumulate, while one with an instance is replaced
  // at the client's next start.
  const order = (a: Binding, b: Binding) =>
    Number(a.instance !== undefined) - Number(b.instance !== undefined) || a.expiresAt - b.expiresAt
  const gone = new Set(old.toSorted(order).slice(0, over))
  return [...old.filter((binding) => !gone.has(binding)), ...added]
}

const removeAll = (before: readonly Binding[], registration: RegisterRequest): RegisterOutcome => {
  if (registration.expires !== 0) return { kind: 'bad', expected: 'Expires: 0 with Contact: *' }
  if (before.some((binding) => isStale(binding, registration))) return { kind: 'out-of-order' }
  return { kind: 'bindings', bindings: [] }
}

/** Returns the granted time; 0 removes the contact. */
const grantedMs = (contact: Contact, { expires }: RegisterRequest, limits: BindingLimits): number => {
  const seconds = contact.expires ?? expires
  return seconds === undefined ? limits.maxExpiresMs : Math.min(seconds * 1_000, limits.maxExpiresMs)
}

/**
 * Whether a contact means an existing binding. With an instance and a flow, both must be equal, and the URI
 * does not count (RFC 5626 section 6). With an instance only, the instance must be equal: many clients use a
 * new URI at each start. Otherwise the URIs must be equal.
 */
const isOf = (binding: Binding, contact: Contact): boolean => {
  const { instance, regId } = contact
  if (instance !== undefined && binding.instance === instance && binding.regId === regId) return true
  return regId === undefined && binding.regId === undefined && isSameUri(binding.uri, contact.uri)
}

const isStale = (binding: Binding, { callId, seq }: RegisterRequest): boolean =>
  binding.callId === callId && seq <= binding.seq

const bindingOf = (contact: Contact, registration: RegisterRequest, expiresAt: number): Binding => {
  const { uri, q, instance, regId } = contact
  const { callId, seq, source } = registration
  return { uri, q, instance, regId, callId, seq, expiresAt, source }
}
