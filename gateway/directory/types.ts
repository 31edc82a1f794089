import type { AudioCodec } from '../../media/types.ts'
import type { AddressBook, HandlerSpec } from '../calls/ports.ts'
import type { CallbackRows } from './callbacks.ts'
import type { RecordingRows } from './recordings.ts'

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
  readonly mayDialOut: boolean
  /** Calls at once, and new ones a second, that it makes; undefined: no limit of its own. */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  /** What is offered to it and taken from it, the first one first; undefined: G.711. */
  readonly codecs?: readonly AudioCodec[]
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
}

/** One address as the browser's API shows it. */
export interface AddressRecord {
  readonly id: string
  readonly resourceId: string
  readonly context: string
  readonly name: string
  readonly displayName: string
  readonly type: 'subscriber' | 'app' | 'endpoint'
  readonly createdAt: number
}

/** Who exists, and what can be called. Every look-up is in memory; the store is read at start and on change. */
export interface Directory extends AddressBook {
  /** By the host of a request-URI, without regard to case. */
  domainApp(host: string): DomainApp | undefined
  subscriber(id: string): Subscriber | undefined
  subscriberByEmail(email: string): Subscriber | undefined
  /** By digest user name, with regard to case. */
  endpointByName(username: string): SipEndpoint | undefined
  endpoint(id: string): SipEndpoint | undefined
  /** Checks a password in constant time, whether or not the subscriber exists. */
  signIn(email: string, password: string): Promise<Subscriber | undefined>
  addresses(): readonly AddressRecord[]
  /** Of calls; asked of the store each time, as there may be many. */
  readonly recordings: RecordingRows
  readonly callbacks: CallbackRows
  close(): void
}
