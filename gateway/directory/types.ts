import type { CarrierConfig } from '../../config/types.ts'
import type { AudioCodec } from '../../media/types.ts'
import type { AddressBook, HandlerSpec, Rooms } from '../model.ts'
import type { PreparedStep } from './config-followers.ts'
import type { DeclaringConfig } from './declared.ts'
import type { ConnectionUse, News } from './engine.ts'
import type { DomainApps, ProjectCarriers, Projects, Resources } from './ports.ts'
import type { RecordingRows } from './recordings.ts'
import type { Store, Write } from './sqlite.ts'

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
  /** Suites of SRTP; undefined: those of the carrier. */
  readonly ciphers?: readonly string[]
}

/** Secret that verifies digest responses (RFC 8760): HA1 for each algorithm, in hex. Never shown. */
export interface DigestSecret {
  readonly username: string
  readonly realm: string
  readonly md5: string
  readonly sha256: string
}

/** SIP endpoint: a phone that registers. */
export interface SipEndpoint {
  readonly id: string
  readonly projectId: string
  readonly username: string
  /** Only address of the endpoint, `/context/name`. */
  readonly address: string
  readonly displayName: string
  readonly callerId: string
  /** Caller id that is sent to carriers; undefined: {@link callerId}. */
  readonly sendAs?: string
  readonly mayDialOut: boolean
  /**
   * Maximum number of simultaneous calls that the endpoint makes, and of new calls per second; undefined: no
   * separate limit.
   */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  /** Codecs in order of preference; undefined: G.711. */
  readonly codecs?: readonly AudioCodec[]
  /** `required`: every call of the endpoint must use SRTP; undefined: optional. */
  readonly encryption?: 'required'
  /** Handler of the endpoint's calls; undefined: the dialled destination is called. */
  readonly handler: HandlerSpec | undefined
  /** Secrets by realm, one for each domain of the registrar. */
  readonly secrets: ReadonlyMap<string, DigestSecret>
}

/** Person who signs in with a browser. */
export interface Subscriber {
  readonly id: string
  readonly projectId: string
  readonly email: string
  /** The only address of the subscriber, `/context/name`. */
  readonly address: string
  readonly addressId: string
  readonly displayName: string
  readonly firstName: string
  readonly lastName: string
  readonly mayDialOut: boolean
  /**
   * Maximum number of simultaneous calls to carriers, and of new ones per second; absent: the limits of the
   * configuration.
   */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  /** Whether sign-in and all tokens are invalid. */
  readonly disabled: boolean
  /** Tokens issued before this time (ms since the Unix epoch) are invalid. */
  readonly tokensAfter: number
  /** Key that encrypts notifications, base64; undefined before its creation. */
  readonly pushKey?: string
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

/**
 * Subscribers, endpoints and callable addresses. Every look-up uses memory; the store is read at start and
 * after changes.
 */
export interface Directory extends AddressBook, Rooms {
  /** Finds a domain application by the host of a request-URI, ignoring case. */
  domainApp(host: string): DomainApp | undefined
  subscriber(id: string): Subscriber | undefined
  subscriberByEmail(projectId: string, email: string): Subscriber | undefined
  /** Finds an endpoint by its digest user name, case-sensitive. */
  endpointByName(username: string): SipEndpoint | undefined
  endpoint(id: string): SipEndpoint | undefined
  /**
   * Verifies a password in constant time, whether or not the subscriber exists. A disabled subscriber cannot
   * sign in.
   */
  signIn(projectId: string, email: string, password: string): Promise<Subscriber | undefined>
  /**
   * Changes properties that the subscriber cannot set. A push key that exists is kept. Rejects with
   * `unknown_resource`.
   */
  changeSubscriber(
    projectId: string,
    id: string,
    change: Partial<Pick<Subscriber, 'disabled' | 'tokensAfter' | 'pushKey'>>,
  ): Promise<void>
  readonly resources: Resources
  /**
   * Adds a listener that gets the ids of resources that were created, changed or removed by any gateway, once
   * reads show the change.
   */
  onResources(listener: (ids: readonly string[]) => void): void
  readonly domainApps: DomainApps
  readonly projects: Projects
  readonly carriers: ProjectCarriers
  /**
   * Sets the listener for the senders of calls and the carriers; called immediately and after each change.
   */
  onSenders(listener: (senders: Senders) => void): void
  /** For queries that always use the store. */
  readonly store: Store
  /** Recordings of calls; always queried in the store, as there may be many. */
  readonly recordings: RecordingRows
  /**
   * Adds a listener for changes by other gateways, called once reads show the change. A listener that rejects
   * is later called with `anything`.
   */
  onElsewhere(listener: (news: News) => Promise<void> | void): void
  /**
   * Prepares the declarations of another configuration; returns undefined if they are the same. Throws if an
   * entry is malformed or declared twice.
   */
  prepareDeclared(next: DeclaringConfig, now: DeclaringConfig): Promise<PreparedStep | undefined>
  /** Runs `work` in one transaction that no other gateway can change its declarations meanwhile. */
  transaction(work: (write: Write) => Promise<void>): Promise<void>
  /** Connections to the database server; undefined without one. */
  readonly connections: ConnectionUse | undefined
  /** Idempotent. */
  close(): Promise<void>
}
