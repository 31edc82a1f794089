import type { CarrierConfig } from '../../config/sip-types.ts'
import type { AudioCodec } from '../../media/types.ts'
import type { AddressBook, HandlerSpec, Rooms } from '../model.ts'
import type { PreparedStep } from './config-followers.ts'
import type { ConnectionUse, News } from './engine.ts'
import type { DomainApps, ProjectCarriers, Projects, Resources } from './ports.ts'
import type { RecordingRows } from './recordings.ts'
import type { DeclaringConfig } from './redeclaring.ts'
import type { Store, Write } from './sqlite.ts'

/** A custom SIP domain and what happens with its calls. */
export interface DomainApp {
  readonly id: string
  readonly projectId: string
  /** Lower case, without a port. */
  readonly domain: string
  /** CIDRs; undefined: anyone may send. */
  readonly allow: readonly string[] | undefined
  readonly handler: HandlerSpec | undefined
  readonly maxCalls: number | undefined
  /** New calls a second, and those of one source address; undefined: no limit of its own. */
  readonly callsPerSecond?: number
  readonly callsPerSecondOfSource?: number
  /** Calls at once of one source address; undefined: no limit of its own. */
  readonly maxCallsOfSource?: number
  /** What callers have to prove; undefined: nothing. */
  readonly challenge?: DigestSecret
  /** What its callers may speak; undefined: what their carrier may, or G.711. */
  readonly codecs?: readonly AudioCodec[]
  /** User part of the request-URI that it takes; undefined or `*`: any. */
  readonly user?: string
  /** SRTP of its callers; undefined or `optional`: the rules of their carrier hold. */
  readonly encryption?: 'optional' | 'required' | 'forbidden'
  /** Suites of SRTP; undefined: those of the carrier. */
  readonly ciphers?: readonly string[]
}

/** What a digest answer is checked against (RFC 8760): HA1 for each algorithm, in hex. Never shown. */
export interface DigestSecret {
  readonly username: string
  readonly realm: string
  readonly md5: string
  readonly sha256: string
}

/** A SIP endpoint: a phone that registers. */
export interface SipEndpoint {
  readonly id: string
  readonly projectId: string
  readonly username: string
  /** Its one address, `/context/name`. */
  readonly address: string
  readonly displayName: string
  readonly callerId: string
  /** Shown to carriers instead; undefined: {@link callerId}. */
  readonly sendAs?: string
  readonly mayDialOut: boolean
  /** Calls at once, and new ones a second, that it makes; undefined: no limit of its own. */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  /** What is offered to it and taken from it, the first one first; undefined: G.711. */
  readonly codecs?: readonly AudioCodec[]
  /** Its audio is SRTP, or there is no call; undefined: as it likes. */
  readonly encryption?: 'required'
  /** What runs when it calls; undefined: whom it dialled is called. */
  readonly handler: HandlerSpec | undefined
  /** One for each domain of the registrar, by its realm. */
  readonly secrets: ReadonlyMap<string, DigestSecret>
}

/** A person who signs in with a browser. */
export interface Subscriber {
  readonly id: string
  readonly projectId: string
  readonly email: string
  /** Their one address, `/context/name`. */
  readonly address: string
  readonly addressId: string
  readonly displayName: string
  readonly firstName: string
  readonly lastName: string
  readonly mayDialOut: boolean
  /** Calls to carriers at once, and new ones a second; absent: the limits of the configuration. */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  /** May not sign in, and no token is good. */
  readonly disabled: boolean
  /** Tokens that were issued before this (ms since the Unix epoch) are not good any more. */
  readonly tokensAfter: number
  /** Notifications are encrypted with it, base64; undefined: none was made yet. */
  readonly pushKey?: string
}

/** Who may send calls, and the carriers that the API made. */
export interface Senders {
  readonly domains: readonly {
    /** Project that it belongs to. */
    readonly project: string
    readonly allow: readonly string[] | undefined
    readonly challenge: DigestSecret | undefined
    /** A customer made it over the API. */
    readonly guarded: boolean
  }[]
  readonly carriers: readonly CarrierConfig[]
}

/**
 * Who exists, and what can be called. Every look-up is in memory; the store is read at start and on change.
 */
export interface Directory extends AddressBook, Rooms {
  /** By the host of a request-URI, without regard to case. */
  domainApp(host: string): DomainApp | undefined
  subscriber(id: string): Subscriber | undefined
  subscriberByEmail(projectId: string, email: string): Subscriber | undefined
  /** By digest user name, with regard to case. */
  endpointByName(username: string): SipEndpoint | undefined
  endpoint(id: string): SipEndpoint | undefined
  /**
   * Checks a password in constant time, whether or not the subscriber exists. Nobody who is disabled signs
   * in.
   */
  signIn(projectId: string, email: string, password: string): Promise<Subscriber | undefined>
  /** What is not the subscriber's own to change; a push key that is there stays. `unknown_resource`. */
  changeSubscriber(
    projectId: string,
    id: string,
    change: Partial<Pick<Subscriber, 'disabled' | 'tokensAfter' | 'pushKey'>>,
  ): Promise<void>
  readonly resources: Resources
  /**
   * Tells of resources that were made, changed or removed, here or by another gateway, as soon as reads show
   * it.
   */
  onResources(listener: (ids: readonly string[]) => void): void
  readonly domainApps: DomainApps
  readonly projects: Projects
  readonly carriers: ProjectCarriers
  /** Tells who may send, and by whom calls go out, now and whenever that changes; one listener. */
  onSenders(listener: (senders: Senders) => void): void
  /** For what is asked of the store each time. */
  readonly store: Store
  /** Of calls; asked of the store each time, as there may be many. */
  readonly recordings: RecordingRows
  /**
   * Told of what other gateways on the store changed, once it can be looked up; who rejects is told that it
   * was anything, later.
   */
  onElsewhere(listener: (news: News) => Promise<void> | void): void
  /**
   * Prepares the store, and what is read of it, for what another configuration declares; undefined where that
   * is the same. Throws where something is declared twice or malformed.
   */
  prepareDeclared(next: DeclaringConfig, now: DeclaringConfig): Promise<PreparedStep | undefined>
  /** Runs `work` in one transaction that holds off other gateways which change what their file declares. */
  transaction(work: (write: Write) => Promise<void>): Promise<void>
  /** To the database server; undefined where there is none. */
  readonly connections: ConnectionUse | undefined
  /** Idempotent. */
  close(): Promise<void>
}
