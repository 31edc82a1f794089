import type { CarrierConfig } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import { isSecure, parseSipUri, type SipUri, userOf } from '../../core/sip-uri.ts'
import type { Credentials, LearnedRealm } from '../digest/digest-session.ts'
import type { Headers, Refusal } from '../srf.ts'
import { CarrierLoad } from './carrier-load.ts'
import { CarrierTarget, orderedTargets } from './carrier-target.ts'
import { numberOf, userWrittenFor } from './dialled-number.ts'
import { type NumberVerdict, numberVerdict } from './number-lists.ts'
import type { RegistrationState } from './outbound-registration.ts'
import { contactsOf } from './redirect-contacts.ts'
import { retryAfterMs } from './retry-after.ts'
import { type Hop, isLocal } from './route.ts'

/**
 * Returns the decoded user part with its parameters, as a carrier reads it. Returns an empty string if an
 * escape is malformed; this is no telephone number.
 */
const decodedUser = ({ user = '' }: SipUri): string => {
  try {
    return decodeURIComponent(user.replace(/:.*$/s, ''))
  } catch {
    return ''
  }
}

/** Time in ms for which a silent or unreachable target is tried after the other targets. */
const asideMs = 30_000

/** Call to a carrier. */
export interface CarrierCall {
  /** The dialled URI, or the URI of the dialled number. */
  readonly uri: SipUri
  /** Returns the headers of the INVITE to a target. */
  headers(target: CarrierTarget): Headers
  /**
   * Credentials that a document sets, in place of those of the carrier. They are used for the dialled host
   * only, unless {@link isNumber}.
   */
  readonly credentials?: Credentials
  /**
   * Whether a telephone number without a host was dialled. If so, the document's credentials are used for
   * every target.
   */
  readonly isNumber: boolean
}

/** One carrier: its rules, its targets, and its calls in progress. */
export class Carrier {
  readonly config: CarrierConfig
  readonly targets: readonly CarrierTarget[]
  readonly load: CarrierLoad
  /**
   * Returns whether the carrier has rejected its registration for good. The owner of the registration sets
   * it.
   */
  isRejected: () => boolean = () => false
  /** Returns the state of the registration; undefined for a carrier without one. Its owner sets it. */
  registrationState: () => RegistrationState | undefined = () => undefined
  #clock: Pick<Clock, 'now'>
  #learnt: LearnedRealm = {}

  /** `load`: call counts of the carrier object that this object replaces; default: new counts. */
  constructor(config: CarrierConfig, clock: Pick<Clock, 'now'>, load?: CarrierLoad) {
    this.config = config
    this.targets = config.targets.map((text) => new CarrierTarget(text))
    this.load = load ?? new CarrierLoad(config, clock)
    this.load.limit(config)
    this.#clock = clock
  }

  get name(): string {
    return this.config.name
  }

  /** Whether the project may use the carrier. A carrier without a project serves all projects. */
  isOf(projectId: string): boolean {
    return this.config.project === undefined || this.config.project === projectId
  }

  /** Credentials for the carrier's challenges. */
  get credentials(): Credentials | undefined {
    const { auth } = this.config
    if (!auth) return undefined
    const { username, password, realm } = auth
    return { username, password, ...(realm === undefined ? { learned: this.#learnt } : { realms: [realm] }) }
  }

  /** Returns the target that a URI names, if any. */
  targetOf(uri: SipUri): CarrierTarget | undefined {
    return this.targets.find((target) => target.isMeantBy(uri))
  }

  /**
   * Returns whether the carrier's number lists permit the user part of a URI, and why. Without lists every
   * user part is permitted.
   */
  numberVerdict(uri: SipUri): NumberVerdict {
    const { numbers, number } = this.config
    return numbers ? numberVerdict(numbers, decodedUser(uri), number) : { isPermitted: true }
  }

  /** Returns the hops of a call, in the order in which they are tried. */
  hops(call: CarrierCall): readonly Hop[] {
    const user = this.#userFor(call.uri)
    return orderedTargets(this.targets, this.#clock.now(), this.targetOf(call.uri)).map((target) => ({
      uri: target.requestUri(user, call.uri.params),
      headers: call.headers(target),
      credentials: this.#credentialsFor(call, target),
      onFailure: (refusal) => this.#recordFailure(target, refusal),
    }))
  }

  /**
   * Returns the hops for the Contact of a redirection. Omits a contact if its host is no target of the
   * carrier, or if the number lists reject its number. A contact without `transport` gets the transport of
   * the target. If all targets use TLS, the contact must use TLS as well, because the SDP then has keys.
   */
  redirected(contact: string, call: CarrierCall): readonly Hop[] {
    const secure = this.targets.every(({ uri }) => isSecure(uri))
    return contactsOf(contact).flatMap((found): Hop[] => {
      const target = this.targets.find(({ uri }) => uri.host === found.host)
      // With maddr, the agent would send to that host instead of the target.
      if (!target || found.params.has('maddr')) return []
      const transport = found.params.has('transport') ? undefined : target.uri.params.get('transport')
      const uri = parseSipUri(transport === undefined ? found.bare : `${found.bare};transport=${transport}`)
      if (!uri || (secure && !isSecure(uri)) || !this.numberVerdict(uri).isPermitted) return []
      return [
        { uri: uri.bare, headers: call.headers(target), credentials: this.#credentialsFor(call, target) },
      ]
    })
  }

  #userFor(uri: SipUri): string {
    const number = numberOf(userOf(uri))
    if (number === undefined) return uri.user ?? ''
    return userWrittenFor(number, uri.user ?? '', this.config.number)
  }

  #credentialsFor(call: CarrierCall, target: CarrierTarget): Credentials | undefined {
    const own = call.credentials && (call.isNumber || target.uri.host === call.uri.host)
    return own ? call.credentials : this.credentials
  }

  #recordFailure(target: CarrierTarget, refusal: Refusal | 'silent'): void {
    const now = this.#clock.now()
    if (refusal === 'silent' || isLocal(refusal)) target.setAside(now + asideMs)
    else if (refusal.status === 503)
      target.setAside(now + (retryAfterMs(refusal.res?.get('Retry-After')) ?? 0))
  }
}
