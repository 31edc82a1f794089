import { isIP } from 'node:net'
import { readNameAddr } from '@trunkline/sip-agent/message'
import { canonicalHost } from '../../../config/networks.ts'
import type { SteadyClock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { parseSipUri, shownUri, userOf } from '../../core/sip-uri.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { GatewayLoad } from '../admission/gateway-load.ts'
import type { Refusals } from '../admission/refusals.ts'
import type { Trust } from '../admission/trust.ts'
import type { GatewayHeaders } from '../gateway-headers.ts'
import { printable } from '../headers.ts'
import { proxiesOf, type SignallingSource, sourceOf } from '../signalling-source.ts'
import type { Headers, SipRequest, SipResponse } from '../srf.ts'
import type { Binding, BindingLimits, RegisterRequest } from './bindings.ts'
import type { EndpointAuthenticator } from './endpoint-authenticator.ts'
import { readContacts, wholeNumber } from './register-contacts.ts'
import type { Registrations } from './registrations.ts'

/** Collaborators of {@link Registrar}. */
export interface RegistrarDeps {
  readonly authenticator: EndpointAuthenticator
  readonly registrations: Registrations
  readonly refusals: Refusals
  /** Networks that are known, and sources that may be challenged. */
  readonly trust: Pick<Trust, 'isListed' | 'mayChallenge'>
  readonly load: Pick<GatewayLoad, 'isDraining'>
  readonly metrics: Pick<Metrics, 'registrations'>
  readonly log: Pick<Log, 'info' | 'debug'>
}

/** Options of {@link Registrar}. */
export interface RegistrarOptions {
  /** Hosts at which endpoints register, in their canonical spelling. */
  readonly domains: readonly string[]
  readonly limits: BindingLimits
  readonly headers: GatewayHeaders
  readonly clock: SteadyClock
}

/** Reason for rejecting a REGISTER, with its facts. */
interface RegisterRefusal {
  readonly code: Code
  readonly facts?: Readonly<Record<string, unknown>>
  readonly headers?: Headers
}

/** Extensions that a REGISTER may require. */
const supported = new Set(['outbound'])

/** Registrar of SIP endpoints (RFC 3261 section 10.3; RFC 5626 for clients without a proxy between). */
export class Registrar {
  readonly #deps: RegistrarDeps
  readonly #options: RegistrarOptions

  constructor(deps: RegistrarDeps, options: RegistrarOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** Takes a REGISTER outside any dialog. */
  handle(request: SipRequest, response: SipResponse): void {
    try {
      this.#handle(request, response)
    } catch (error) {
      // No error of the gateway may reach the socket reader of drachtio-srf.
      this.#refuse(response, { code: 'internal', facts: { source: request.source_address, err: error } })
    }
  }

  #handle(request: SipRequest, response: SipResponse): void {
    const source = sourceOf(request)
    const realm = canonicalHost(parseSipUri(request.uri)?.host ?? '')
    const facts = { source: source.address, transport: source.transport }
    const no = this.#objection(request, realm)
    if (no) {
      this.#refuse(response, { ...no, facts: { ...facts, ...no.facts } })
      return
    }
    const endpoint = this.#deps.authenticator.authenticate(request, response, realm)
    if (!endpoint) {
      this.#count('challenged')
      return
    }
    const refusal = this.#register(request, response, source, endpoint)
    if (!refusal) return
    const { username } = endpoint
    this.#refuse(response, { ...refusal, facts: { ...facts, endpoint: username, ...refusal.facts } })
  }

  /** Returns the rejection that does not depend on the sender's identity. */
  #objection(request: SipRequest, realm: string): RegisterRefusal | undefined {
    if (this.#deps.load.isDraining) return { code: 'draining' }
    // An untrusted source is challenged at every host, so that it learns nothing about the hosts.
    const { trust } = this.#deps
    if (!trust.mayChallenge(request.source_address)) return { code: 'source_not_allowed' }
    if (!this.#options.domains.includes(realm) && trust.isListed(request.source_address))
      return { code: 'unknown_domain', facts: { domain: printable(realm) } }
    const required = unsupported(request)
    if (required.length === 0) return undefined
    return { code: 'bad_extension', facts: { required }, headers: { Unsupported: required.join(', ') } }
  }

  #register(
    request: SipRequest,
    response: SipResponse,
    source: SignallingSource,
    endpoint: SipEndpoint,
  ): RegisterRefusal | undefined {
    // An endpoint registers its own address only (RFC 3261 section 10.3, step 4).
    if (!this.#isOwnAddress(request, endpoint))
      return { code: 'not_permitted', facts: { to: printable(request.get('To') ?? '') } }
    const registration = this.#read(request, source)
    if ('expected' in registration) return { code: 'bad_request', facts: { ...registration } }
    const { contacts } = registration
    const flows = contacts !== '*' && contacts.some(({ regId }) => regId !== undefined)
    // Behind a proxy the flow ends at the proxy, which the gateway could not ask to use the flow (RFC 5626
    // section 6).
    if (flows && proxiesOf(request) > 0) return { code: 'no_outbound' }
    const { registrations } = this.#deps
    const before = registrations.of(endpoint.id)
    const outcome = registrations.apply(endpoint, registration)
    if (outcome.kind !== 'bindings') return this.#refusalOf(outcome)
    this.#report(before, outcome.bindings, registration, endpoint)
    this.#accept(response, outcome.bindings, registration, flows)
    return undefined
  }

  #refusalOf(outcome: Exclude<ReturnType<Registrations['apply']>, { kind: 'bindings' }>): RegisterRefusal {
    const { registrations } = this.#deps
    const { limits } = this.#options
    switch (outcome.kind) {
      case 'bad':
        return { code: 'bad_request', facts: { expected: outcome.expected } }
      case 'out-of-order':
        return { code: 'bad_request', facts: { expected: 'a CSeq above the last one' } }
      case 'too-brief':
        return {
          code: 'interval_too_brief',
          headers: { 'Min-Expires': String(Math.ceil(limits.minExpiresMs / 1_000)) },
        }
      case 'too-many':
        return { code: 'too_many_contacts', facts: { limit: limits.contacts } }
      case 'full':
        return { code: 'too_many_requests', facts: { bindings: registrations.size } }
    }
  }

  #isOwnAddress(request: SipRequest, endpoint: SipEndpoint): boolean {
    const to = readNameAddr(request.get('To') ?? '')
    const uri = to && parseSipUri(to.uri)
    return (
      uri !== undefined &&
      userOf(uri) === endpoint.username &&
      this.#options.domains.includes(canonicalHost(uri.host))
    )
  }

  #read(request: SipRequest, source: SignallingSource): RegisterRequest | { readonly expected: string } {
    const callId = request.get('Call-ID')
    const seq = wholeNumber(/^\s*(\d{1,10})\s/.exec(request.get('CSeq') ?? '')?.[1])
    if (!callId || seq === undefined) return { expected: 'a Call-ID and a CSeq' }
    const contacts = readContacts(request.get('Contact'))
    if (typeof contacts === 'object' && 'expected' in contacts) return contacts
    // A contact at the registrar's own host name would return each call to the gateway. IP addresses are not
    // checked here: the agent never calls itself.
    const atOurs = (host: string) => isIP(host) === 0 && this.#options.domains.includes(host)
    if (contacts !== '*' && contacts.some(({ uri }) => atOurs(canonicalHost(uri.host))))
      return { expected: 'contacts elsewhere than at the registrar' }
    return { contacts, expires: wholeNumber(request.get('Expires')), callId, seq, source }
  }

  #accept(
    response: SipResponse,
    bindings: readonly Binding[],
    { contacts, callId, seq }: RegisterRequest,
    flows: boolean,
  ): void {
    const own = bindings.filter((binding) => binding.callId === callId && binding.seq === seq)
    const granted = own.map((binding) => this.#secondsLeft(binding))
    const headers: Headers = {
      ...this.#options.headers.response,
      ...(bindings.length > 0 && { Contact: bindings.map((binding) => this.#contactOf(binding)).join(', ') }),
      ...(contacts.length > 0 && { Expires: String(Math.max(0, ...granted)) }),
      // Clients without a clock use this header to set their time (RFC 3261 section 10.2.3).
      Date: new Date(this.#options.clock.now()).toUTCString(),
      Supported: 'outbound',
      ...(flows && own.length > 0 && { Require: 'outbound' }),
    }
    response.send(200, { headers })
  }

  #contactOf(binding: Binding): string {
    const { uri, q, instance, regId } = binding
    return [
      `<${uri.bare}>`,
      `expires=${this.#secondsLeft(binding)}`,
      ...(q === 1 ? [] : [`q=${q}`]),
      ...(instance === undefined ? [] : [`+sip.instance="${instance}"`]),
      ...(regId === undefined ? [] : [`reg-id=${regId}`]),
    ].join(';')
  }

  #secondsLeft({ expiresAt }: Binding): number {
    return Math.max(1, Math.ceil((expiresAt - this.#options.clock.uptime()) / 1_000))
  }

  /**
   * Logs added and removed contacts at info. Mere refreshes, which are most requests, are logged at debug.
   */
  #report(
    before: readonly Binding[],
    after: readonly Binding[],
    { contacts, source }: RegisterRequest,
    { username }: SipEndpoint,
  ): void {
    if (contacts.length === 0) {
      this.#count('queried')
      return
    }
    const isKnown = (list: readonly Binding[], { uri }: Binding) => list.some((b) => b.uri.bare === uri.bare)
    const added = after.filter((binding) => !isKnown(before, binding))
    const removed = before.filter((binding) => !isKnown(after, binding))
    const level = added.length + removed.length > 0 ? 'info' : 'debug'
    const namesOf = (list: readonly Binding[]) => list.map(({ uri }) => printable(shownUri(uri.bare)))
    const facts = { source: source.address, transport: source.transport, endpoint: username }
    this.#deps.log[level](
      {
        event: 'registrar.endpoint-registered',
        ...facts,
        contacts: after.length,
        added: namesOf(added),
        removed: namesOf(removed),
      },
      'endpoint registered',
    )
    this.#count(added.length < removed.length ? 'removed' : 'registered')
  }

  #refuse(response: SipResponse, { code, facts, headers }: RegisterRefusal): void {
    this.#count('refused')
    this.#deps.refusals.refuse(response, code, { method: 'REGISTER', ...facts }, { headers })
  }

  #count(outcome: 'registered' | 'removed' | 'queried' | 'challenged' | 'refused'): void {
    this.#deps.metrics.registrations.inc({ outcome })
  }
}

const unsupported = (request: SipRequest): readonly string[] =>
  printable(request.get('Require') ?? '')
    .split(',')
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '' && !supported.has(tag))
