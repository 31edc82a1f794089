import type { Header } from '../../../handlers/verbs.ts'
import type { Lineage } from './lineage.ts'

/** Facts about a leg's signalling, for the CDR and for the legs that it is joined to. */
export interface LegFacts {
  /** Carrier of the leg. */
  readonly carrier?: string
  /** SIP Call-ID; of several INVITEs, that of the last one. */
  readonly sipCallId?: string
  /** Call-IDs of the INVITEs before the last one. */
  readonly formerSipCallIds?: readonly string[]
  /** Last response to the INVITE of an outbound SIP leg, with its `X-…` headers. */
  readonly response?: { readonly status: number; readonly headers: readonly Header[] }
  /** Max-Forwards of the received INVITE. */
  readonly maxForwards?: number
  /** Addresses that were called one after another until the leg's call was made; used to limit loops. */
  readonly lineage?: Lineage
}

/** Times at which a leg reached its states, in ms; undefined for a state that it has not reached. */
export interface LegTimes {
  readonly startedAt: number
  readonly ringAt?: number
  readonly answeredAt?: number
  readonly endedAt?: number
}

/** One attempt to reach a far side, for the CDR. Times in ms. */
export interface DialAttempt {
  /** URI or address of the attempt, without credentials. */
  readonly target: string
  readonly startedAt: number
  readonly endedAt: number
  /** Final SIP status, if any. */
  readonly sipStatus?: number
  readonly outcome: 'answered' | 'refused' | 'no-progress' | 'unreachable' | 'canceled'
  /** Reason for a failed attempt, if known, such as a certificate for a different name. */
  readonly detail?: string
}
