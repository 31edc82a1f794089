import type { SipUri } from '../../core/sip-uri.ts'
import type { SignallingSource } from '../signalling-source.ts'
import type { Contact } from './register-contacts.ts'
import { isSameUri } from './same-uri.ts'

/** A contact that is registered. Times are those of the steady clock, in milliseconds. */
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

/** A REGISTER, read. */
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
  /** Contacts of one endpoint. */
  readonly contacts: number
}

/** Result of a REGISTER: the new bindings, or why nothing changes. */
export type RegisterOutcome =
  | { readonly kind: 'bindings'; readonly bindings: readonly Binding[] }
  | { readonly kind: 'bad'; readonly expected: string }
  | { readonly kind: 'too-brief' }
  | { readonly kind: 'too-many' }
  /** A later REGISTER of the same Call-ID was here before (RFC 3261 section 10.3, step 7). */
  | { readonly kind: 'out-of-order' }

/** Minimum above which an interval must not be refused as too brief (RFC 3261 section 10.3, step 7). */
const maxRefusableMs = 3_600_000

/**
 * Applies a REGISTER to the bindings of its endpoint: all of it, or nothing (RFC 3261 section 10.3, RFC 5626
 * section 6).
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
  // One flow for each registration that has one (RFC 5626 section 6).
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
    // A client with a new URI may remove the old one of the same instance in the same request.
    added = added.filter(({ uri, regId }) => regId !== contact.regId || !isSameUri(uri, contact.uri))
    if (ms > 0) added = [...added, bindingOf(contact, registration, now + ms)]
  }
  const kept = withinLimit(old, added, limits.contacts)
  return kept ? { kind: 'bindings', bindings: kept } : { kind: 'too-many' }
}

/**
 * Makes room for new bindings: those that expire first are removed. Otherwise a client with a new contact at
 * each start would lock itself out. Returns undefined if the REGISTER has more contacts than the limit.
 */
const withinLimit = (
  old: readonly Binding[],
  added: readonly Binding[],
  limit: number,
): readonly Binding[] | undefined => {
  const over = Math.max(0, old.length + added.length - limit)
  if (old.length < over) return undefined
  // A binding with an instance is replaced at the client's next start; others pile up.
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

/** Zero removes the contact. */
const grantedMs = (contact: Contact, { expires }: RegisterRequest, limits: BindingLimits): number => {
  const seconds = contact.expires ?? expires
  return seconds === undefined ? limits.maxExpiresMs : Math.min(seconds * 1_000, limits.maxExpiresMs)
}

/**
 * Whether a binding is that of a contact. A flow of an instance is one binding, whatever its URI (RFC 5626
 * section 6). An instance without flows also has one binding: many clients make up a new URI at each start.
 * Otherwise the URI decides.
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
