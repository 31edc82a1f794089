import type { CarrierConfig } from '../../../config/types.ts'
import type { InboundPlan } from '../../calls/call/arrival.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { SipUri } from '../../core/sip-uri.ts'
import type { Directory } from '../../directory/directory.ts'
import type { DomainApp, SipEndpoint } from '../../directory/model/callers.ts'
import type { DigestSecret } from '../../directory/model/digest-secret.ts'
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
  /** Calls in progress, including those that are being set up. */
  readonly calls: number
  /**
   * Number of carrier media ports that are not open. Ports in quarantine after a call count as free, as they
   * are reused last.
   */
  readonly portsFree: number
  /** Carrier media ports in all. */
  readonly portsTotal: number
  /** Checks the credentials in the request. */
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
  /** Load in per cent from which new calls are rejected. */
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

/** Identified caller, with the plan of the call. */
export interface IdentifiedCaller {
  /** Host that was called. */
  readonly domain: string
  readonly projectId: string
  readonly plan: InboundPlan
  /**
   * `known`: the caller's address is in an allow list of the file, or in an API list of the called project.
   * API lists count within the bounds of `knownNetworks`. `authenticated`: the caller has shown a password.
   * `untrusted`: neither.
   */
  readonly standing: 'known' | 'authenticated' | 'untrusted'
  /** Carrier whose network the call came from. */
  readonly carrier?: CarrierConfig
  /** One of the two is set. */
  readonly app?: DomainApp
  readonly endpoint?: SipEndpoint
}

/** Admitted call. */
export interface AdmittedCaller extends IdentifiedCaller {
  /** Rates that the call counts in. */
  readonly rates: readonly Rate[]
  /** The caller has not yet proved that it receives messages at its address. */
  readonly isUnconfirmed: boolean
}

/** New calls a second of one kind. */
export interface Rate {
  readonly key: string
  readonly perSecond: number
}

/** Rejected call. `facts`: the checked values, for the log line. */
export interface AdmissionRefusal {
  readonly refuse: Code
  /** Check that the call has failed. */
  readonly check: Check
  readonly facts: CheckedFacts
  /** Further headers of the response. */
  readonly headers?: Headers
  /**
   * The rejection is neither logged nor counted: it is the challenge with which every authenticated call
   * begins.
   */
  readonly isQuiet?: boolean
  /**
   * Whether the reached limit is a limit of a domain, of a source at a domain, or of an endpoint. The
   * sender's other calls may still be admitted.
   */
  readonly hasRoomForOthers?: boolean
}
