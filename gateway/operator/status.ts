import type { SipAgent } from '@trunkline/sip-agent'
import { releaseVersion } from '../core/version.ts'
import type { Carrier } from '../sip/trunks/carrier.ts'
import { type CarrierHealth, carrierHealth } from './carrier-health.ts'

/** State of a gateway at one moment. All values are read when the status is asked for. */
export interface StatusSource {
  readonly startedAt: number
  readonly now: number
  /** Reasons for not accepting calls; empty if the gateway accepts calls. */
  readonly reasons: readonly string[]
  readonly isDraining: boolean
  readonly calls: { readonly count: number; readonly legs: number; readonly limit: number }
  readonly listeners: { readonly sip: readonly string[]; readonly http: readonly string[] }
  readonly carriers: readonly Carrier[]
  /** Contacts of registered phones. */
  readonly registrations: number
  readonly browsers: number
  readonly subscribersOnline: number
  readonly store: { readonly name: string; readonly isWritable: boolean }
  /** Seconds until each certificate expires, by name. */
  readonly certificates: ReadonlyMap<string, number>
  /** Rejected requests in memory. */
  readonly refusals: number
  readonly agent: Pick<SipAgent, 'stats'> | undefined
}

/** Status of a gateway, as the API and the command line print it. */
export interface StatusBody {
  readonly health: 'healthy' | 'degraded'
  /** Reasons for `degraded`. */
  readonly problems: readonly string[]
  readonly version: string
  readonly started_at: string
  readonly uptime_seconds: number
  readonly state: 'running' | 'draining'
  readonly calls: { readonly in_progress: number; readonly legs: number; readonly limit: number }
  readonly listeners: { readonly sip: readonly string[]; readonly http: readonly string[] }
  readonly carriers: readonly (CarrierHealth & { readonly name: string; readonly calls: number })[]
  readonly registrations: number
  readonly browsers: { readonly connected: number; readonly subscribers_online: number }
  readonly store: { readonly name: string; readonly writable: boolean }
  readonly certificates: readonly { readonly name: string; readonly expires_in_days: number }[]
  /** Addresses that the shield bans; null with a drachtio-server. */
  readonly bans: number | null
  readonly refusals: number
}

/** Days before the end of a certificate from which the gateway counts as degraded. */
const minCertificateDays = 14
const daySeconds = 86_400

/** Returns the status of a gateway. */
export const statusBody = async (source: StatusSource): Promise<StatusBody> => {
  const { startedAt, now, calls, listeners, registrations, browsers, subscribersOnline, store } = source
  const carriers = source.carriers.map((carrier) => ({
    name: carrier.name,
    calls: carrier.load.calls,
    ...carrierHealth(carrier),
  }))
  const certificates = [...source.certificates].map(([name, seconds]) => ({
    name,
    expires_in_days: Math.floor(seconds / daySeconds),
  }))
  const problems = [
    ...source.reasons,
    ...(store.isWritable ? [] : ['the store cannot be written']),
    ...carriers.filter(({ state }) => state === 'down').map(({ name }) => `carrier ${name} is down`),
    ...certificates
      .filter(({ expires_in_days: days }) => days < minCertificateDays)
      .map(({ name, expires_in_days: days }) =>
        days < 0
          ? `certificate ${name} has expired`
          : `certificate ${name} expires in ${days} ${days === 1 ? 'day' : 'days'}`,
      ),
  ]
  return {
    health: problems.length === 0 ? 'healthy' : 'degraded',
    problems,
    version: releaseVersion(),
    started_at: new Date(startedAt).toISOString(),
    uptime_seconds: Math.floor((now - startedAt) / 1_000),
    state: source.isDraining ? 'draining' : 'running',
    calls: { in_progress: calls.count, legs: calls.legs, limit: calls.limit },
    listeners,
    carriers,
    registrations,
    browsers: { connected: browsers, subscribers_online: subscribersOnline },
    store: { name: store.name, writable: store.isWritable },
    certificates,
    bans: await bansOf(source.agent),
    refusals: source.refusals,
  }
}

const bansOf = async (agent: StatusSource['agent']): Promise<number | null> => {
  if (!agent) return null
  try {
    return (await agent.stats()).banned
  } catch {
    // A lost agent is among the reasons already.
    return null
  }
}
