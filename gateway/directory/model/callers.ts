import type { CarrierConfig } from '../../../config/types.ts'
import type { AudioCodec } from '../../../media/types.ts'
import type { HandlerSpec } from '../../model.ts'
import type { DigestSecret } from './digest-secret.ts'
import type { EndpointDetails, SubscriberDetails } from './resource-types.ts'

/** Custom SIP domain with the handling of its calls. */
export interface DomainApp {
  readonly id: string
  readonly projectId: string
  /** Lower case, without a port. */
  readonly domain: string
  /** Networks (CIDR); undefined: any source may send. */
  readonly allow: readonly string[] | undefined
  readonly handler: HandlerSpec | undefined
  readonly maxCalls: number | undefined
  /**
   * Maximum number of new calls per second, in total and from one source address; undefined: no separate
   * limit.
   */
  readonly callsPerSecond?: number
  readonly callsPerSecondOfSource?: number
  /** Maximum number of simultaneous calls from one source address; undefined: no separate limit. */
  readonly maxCallsOfSource?: number
  /** Credentials that callers must present; undefined: none. */
  readonly challenge?: DigestSecret
  /** Codecs for calls to the domain; undefined: the codecs of the caller's carrier, or G.711. */
  readonly codecs?: readonly AudioCodec[]
  /** User part of the request-URI that it accepts; undefined or `*`: any. */
  readonly user?: string
  /** Use of SRTP in calls to the domain; undefined or `optional`: the rules of the caller's carrier apply. */
  readonly encryption?: 'optional' | 'required' | 'forbidden'
  /** SRTP suites; default: the suites of the carrier. */
  readonly ciphers?: readonly string[]
}

/** SIP endpoint: a phone that registers. */
export interface SipEndpoint extends Omit<EndpointDetails, 'encryption' | 'handler' | 'subscriberId'> {
  readonly id: string
  readonly projectId: string
  /** Only address of the endpoint, `/context/name`. */
  readonly address: string
  readonly displayName: string
  /** `required`: every call of the endpoint must use SRTP; undefined: optional. */
  readonly encryption?: 'required'
  /** Handler of the endpoint's calls; undefined: the dialled destination is called. */
  readonly handler: HandlerSpec | undefined
  /** Secrets by realm, one for each domain of the registrar. */
  readonly secrets: ReadonlyMap<string, DigestSecret>
}

/** Person who signs in with a browser. */
export interface Subscriber
  extends Pick<SubscriberDetails, 'email' | 'mayDialOut' | 'maxCalls' | 'callsPerSecond'> {
  readonly id: string
  readonly projectId: string
  /** The only address of the subscriber, `/context/name`. */
  readonly address: string
  readonly addressId: string
  readonly displayName: string
  readonly firstName: string
  readonly lastName: string
  /** Whether sign-in and all tokens are invalid. */
  readonly disabled: boolean
  /** Tokens issued before this time (ms since the Unix epoch) are invalid. */
  readonly tokensAfter: number
  /** Key that encrypts notifications, base64; undefined before its creation. */
  readonly pushKey?: string
  /** Whether calls to the subscriber are busy; default false. */
  readonly doNotDisturb?: boolean
}

/** Senders of calls, and the carriers of the API. */
export interface Senders {
  readonly domains: readonly {
    /** Project of the domain. */
    readonly project: string
    readonly allow: readonly string[] | undefined
    readonly challenge: DigestSecret | undefined
    /** Whether a customer created it by the API. */
    readonly guarded: boolean
  }[]
  readonly carriers: readonly CarrierConfig[]
}
