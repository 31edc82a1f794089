import type { Header } from '../../../handlers/verbs.ts'
import type { Lineage } from '../local/lineage.ts'

/** What is known of a leg's signalling, for the record of its call and for the legs that it is joined to. */
export interface LegFacts {
  /** The carrier that it came from, or goes by. */
  readonly carrier?: string
  /** SIP's own Call-ID. */
  readonly sipCallId?: string
  /** Of a SIP leg that we made: the last response to its INVITE, with its `X-…` headers. */
  readonly response?: { readonly status: number; readonly headers: readonly Header[] }
  /** Max-Forwards of the INVITE that it came by. */
  readonly maxForwards?: number
  /** Addresses that led to the leg's call; absent: none did. */
  readonly lineage?: Lineage
}

/** When a leg reached its states, in milliseconds; undefined where it never did. */
export interface LegTimes {
  readonly startedAt: number
  readonly ringAt?: number
  readonly answeredAt?: number
  readonly endedAt?: number
}

/** One attempt to reach a far side, for the record of the call. Times in milliseconds. */
export interface DialAttempt {
  /** The URI or address that was tried, without credentials. */
  readonly target: string
  readonly startedAt: number
  readonly endedAt: number
  /** Final SIP status; undefined where none came. */
  readonly sipStatus?: number
  readonly outcome: 'answered' | 'refused' | 'no-progress' | 'unreachable' | 'canceled'
  /** Why nobody could be reached, as far as that is known: a certificate that is for somebody else, for example. */
  readonly detail?: string
}
