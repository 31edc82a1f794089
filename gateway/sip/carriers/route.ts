import type { CarrierConfig } from '../../../config/sip-types.ts'
import type { Headers, Refusal } from '../srf.ts'
import type { Credentials } from './digest.ts'

/** One place to send an INVITE to. */
export interface Hop {
  /** The request-URI. */
  readonly uri: string
  /** Where it goes although the request-URI says otherwise; a SIP URI. */
  readonly nextHop?: string
  readonly headers: Headers
  /** What its challenges are answered with; undefined: with nothing. */
  readonly credentials?: Credentials
  /** Told how it refused, or that it said nothing in time. */
  heard?(refusal: Refusal | 'silent'): void
}

/** Where an INVITE goes, and what is tried when it fails. */
export interface Route {
  /** Tried in this order. */
  readonly hops: readonly Hop[]
  /** The carrier that it goes to. */
  readonly carrier?: CarrierConfig
  /** Final statuses after which the next place is tried, besides that nobody is there. */
  readonly statuses: ReadonlySet<number>
  /** Longest wait for the first provisional response of a place; undefined: as long as the agent waits. */
  readonly noProgressMs?: number
  /** The places that the Contact of a redirection leads to; empty: it is not followed. */
  redirected(contact: string): readonly Hop[]
}

/** Redirections that one leg follows. */
export const mostRedirects = 3

/** Whether the agent made the refusal itself, because nobody could be reached. */
export const isLocal = ({ status, res }: Refusal): boolean =>
  status === undefined || res?.source_address === ''

/**
 * Whether the next place is tried after a refusal: where nobody was there, and after the statuses of the route. Never once it has rung:
 * whoever let it ring would be rung a second time.
 */
export const goesOn = (refusal: Refusal, route: Pick<Route, 'statuses'>, rang: boolean): boolean =>
  !rang && (isLocal(refusal) || route.statuses.has(refusal.status ?? 0))
