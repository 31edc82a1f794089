import type { CarrierConfig } from '../../../config/types.ts'
import type { Arrival } from '../../calls/call/arrival.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { SipUri } from '../../core/sip-uri.ts'
import type { DigestSecret, Directory, DomainApp, SipEndpoint } from '../../directory/types.ts'
import type { Headers } from '../srf.ts'
import type { CallCounts } from './call-counts.ts'
import type { DigestCheck } from './challenger.ts'
import type { Trust } from './trust.ts'
import type { UntrustedLimits } from './untrusted-limits.ts'

/** Facts of a request and of the gateway at the time of the decision. */
export interface AdmissionFacts {
  readonly method: string
  /** Address that the packet came from. */
  readonly source: string
  readonly transport: string
  /** The request-URI. */
  readonly target: Pick<SipUri, 'host' | 'user'>
  readonly isDraining: boolean
  /** Per cent of the last second that the gateway was busy. */
  readonly busyPercent: number
  /** Calls in progress, with those that are being set up. */
  readonly calls: number
  /**
   * Number of carrier media ports that are not open; those that rest after a call count, as they are taken
   * last.
   */
  readonly portsFree: number
  /** Carrier media ports in all. */
  readonly portsTotal: number
  /** Checks the credentials that the request shows. */
  readonly checkDigest: (
    realm: string,
    secretOf: (username: string) => DigestSecret | undefined,
  ) => DigestCheck
}

/** Directory, networks, limits and counts that the decision reads. */
export interface AdmissionRules {
  readonly directory: Pick<Directory, 'domainApp' | 'endpointByName' | 'resolve'>
  readonly trust: Pick<
    Trust,
    | 'untrustedResponse'
    | 'mayChallenge'
    | 'carrierOf'
    | 'isAllowed'
    | 'isListed'
    | 'isKnownTo'
    | 'isRegistrar'
    | 'telDomainOf'
  >
  readonly limits: AdmissionLimits
  readonly counts: Pick<
    CallCounts,
    | 'domainCalls'
    | 'sourceCalls'
    | 'untrustedCalls'
    | 'unconfirmedCalls'
    | 'endpointCalls'
    | 'carrierCalls'
    | 'hasRate'
  >
  /** Called for each passed check, in order. */
  readonly note?: (check: Check, facts: CheckedFacts) => void
}

/** The gateway's own limits. */
export interface AdmissionLimits {
  /** Calls at once. */
  readonly maxCalls: number
  /** New calls a second. */
  readonly callsPerSecond: number
  /** From this load on new calls are refused. */
  readonly busyPercent: number
  /** Limits of untrusted sources; undefined: the same limits as for other callers. */
  readonly untrusted?: UntrustedLimits
}

/** The checks, in their order. */
export type Check =
  | 'method'
  | 'draining'
  | 'load'
  | 'carrier'
  | 'domain'
  | 'allow'
  | 'challenge'
  | 'handler'
  | 'dial'
  | 'strangers'
  | 'calls'
  | 'rate'
  | 'ports'

/** Facts that a check compared. They hold no secrets. */
export type CheckedFacts = Readonly<Record<string, unknown>>

/** An identified caller, with the plan of its call. */
export interface IdentifiedCaller {
  /** Host that was called. */
  readonly domain: string
  readonly projectId: string
  readonly plan: Arrival['plan']
  /**
   * `known`: the caller's address is in an allow list of the file, or in an API list of the called project.
   * API lists count within the bounds of `knownNetworks`. `authenticated`: the caller has shown a password.
   * `stranger`: neither.
   */
  readonly standing: 'known' | 'authenticated' | 'stranger'
  /** Carrier whose network the call came from. */
  readonly carrier?: CarrierConfig
  /** One of the two is set. */
  readonly app?: DomainApp
  readonly endpoint?: SipEndpoint
}

/** A call that is let in. */
export interface AdmittedCaller extends IdentifiedCaller {
  /** The rates that it counts in. */
  readonly rates: readonly Rate[]
  /** The caller has yet to prove that it is at its address. */
  readonly isUnconfirmed: boolean
}

/** New calls a second of one kind. */
export interface Rate {
  readonly key: string
  readonly perSecond: number
}

/** A call that is not let in; `facts` are those that were checked, for the log line. */
export interface AdmissionRefusal {
  readonly refuse: Code
  /** The check that it did not pass. */
  readonly check: Check
  readonly facts: CheckedFacts
  /** More headers of the response. */
  readonly headers?: Headers
  /** The refusal is neither logged nor counted: every authenticated call begins with it. */
  readonly isQuiet?: boolean
  /**
   * The limit belongs to a domain, to a source at a domain, or to an endpoint: the sender may send other
   * calls.
   */
  readonly hasRoomForOthers?: boolean
}
