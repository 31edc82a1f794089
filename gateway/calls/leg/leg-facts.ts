import type { Header } from '../../../handlers/verbs.ts'
import type { Lineage } from './lineage.ts'

/** Facts about a leg's signalling, for the CDR and for the legs that it is joined to. */
export interface LegFacts {
  /** Carrier of the leg. */
  readonly carrier?: string
  /** Call-ID of SIP. */
  readonly sipCallId?: string
  /** Last response to the INVITE of an outbound SIP leg, with its `X-…` headers. */
  readonly response?: { readonly status: number; readonly headers: readonly Header[] }
  /** Max-Forwards of the received INVITE. */
  readonly maxForwards?: number
  /** Addresses that led to the leg's call, if any. */
  readonly lineage?: Lineage
}

/** Times at which a leg reached its states, in milliseconds; undefined for states that it has not reached. */
export interface LegTimes {
  readonly startedAt: number
  readonly ringAt?: number
  readonly answeredAt?: number
  readonly endedAt?: number
}

/** One attempt to reach a far side, for the CDR. Times in milliseconds. */
export interface DialAttempt {
  /** URI or address of the attempt, without credentials. */
  readonly target: string
  readonly startedAt: number
  readonly endedAt: number
  /** Final SIP status, if any. */
  readonly sipStatus?: number
  readonly outcome: 'answered' | 'refused' | 'no-progress' | 'unreachable' | 'canceled'
  /** Reason of a failed attempt, if known: a certificate with another name, for example. */
  readonly detail?: string
}
