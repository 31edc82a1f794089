import type { CarrierConfig } from '../../../config/types.ts'
import type { IpFamily } from '../../../media/types.ts'
import { parseSipUri, type SipUri } from '../../core/sip-uri.ts'
import type { Credentials } from '../digest/digest-session.ts'
import type { Headers, Refusal } from '../srf.ts'

/** One destination of an INVITE. */
export interface Hop {
  /** The request-URI. */
  readonly uri: string
  /** Next hop in place of the request-URI; a SIP URI. */
  readonly nextHop?: string
  readonly headers: Headers
  /** IP family of the offered audio. Default: the family of the hop's address, or IPv4 for a host name. */
  readonly family?: IpFamily
  /** Credentials for challenges; default none. */
  readonly credentials?: Credentials
  /** Called with the rejection, or with `silent` if no response came in time. */
  onFailure?(refusal: Refusal | 'silent'): void
}

/** Hops of an INVITE, and rules for trying the next one. */
export interface Route {
  /** Tried in this order. */
  readonly hops: readonly Hop[]
  /** Carrier of the route. */
  readonly carrier?: CarrierConfig
  /** Final statuses after which the next hop is tried, besides an unreachable hop. */
  readonly statuses: ReadonlySet<number>
  /** Maximum wait for the first provisional response of a hop; default: the limit of the SIP agent. */
  readonly noProgressMs?: number
  /** Returns the hops for the Contact of a redirection; empty: the redirection is not followed. */
  redirected(contact: string): readonly Hop[]
}

/** Maximum number of redirections that one leg follows. */
export const maxRedirects = 3

/** Whether the agent generated the rejection because the hop was unreachable. */
export const isLocal = ({ status, res }: Refusal): boolean =>
  status === undefined || res?.source_address === ''

/**
 * Whether the next hop is tried after a rejection: if the hop was unreachable, or for the statuses of the
 * route. Never after ringing: the callee would ring a second time.
 */
export const shouldTryNext = (refusal: Refusal, route: Pick<Route, 'statuses'>, rang: boolean): boolean =>
  !rang && (isLocal(refusal) || route.statuses.has(refusal.status ?? 0))

/** Returns the host and port of a hop; undefined for text that is no SIP URI. */
export const placeOf = ({
  uri,
  nextHop,
}: Pick<Hop, 'uri' | 'nextHop'>): Pick<SipUri, 'host' | 'port'> | undefined => {
  const parsed = parseSipUri(nextHop ?? uri)
  if (!parsed) return undefined
  const host = (parsed.params.get('maddr') || parsed.host).replace(/^\[|\]$/g, '')
  return { host, port: parsed.port }
}

/** Returns the IP family of the audio that a hop is offered. */
export const familyOfHop = (hop: Pick<Hop, 'uri' | 'nextHop' | 'family'>): IpFamily =>
  hop.family ?? (placeOf(hop)?.host.includes(':') ? 6 : 4)
