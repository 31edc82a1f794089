import { senderOf } from '@trunkline/sip-agent/networks'
import type {
  AdmissionFacts,
  AdmissionRefusal,
  AdmissionRules,
  IdentifiedCaller,
  Rate,
} from './admission-types.ts'
import { endpointRate } from './call-counts.ts'

/** Key of the gateway's own rate of new calls. */
export const gatewayRateKey = 'gateway'

/** Returns the first rate of new calls that the call would exceed. */
export const exceededCallRate = (
  rates: readonly Rate[],
  { counts }: Pick<AdmissionRules, 'counts'>,
): Rate | undefined => rates.find(({ key, perSecond }) => !counts.hasRate(key, perSecond))

/** Returns the caller's own call limits, for a report of the checks. */
export const ownCallLimits = ({ app, endpoint, carrier }: IdentifiedCaller): Record<string, number> => {
  const limits = {
    domainLimit: app?.maxCalls,
    endpointLimit: endpoint?.maxCalls,
    sourceLimit: app?.maxCallsOfSource,
    carrierLimit: carrier?.maxCalls,
  }
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) => (limit === undefined ? [] : [[name, limit]])),
  )
}

/** Returns the limit of calls in progress that the call would exceed, with the count of calls. */
export const exceededCallLimit = (
  { app, endpoint, carrier }: IdentifiedCaller,
  { calls, source }: AdmissionFacts,
  rules: AdmissionRules,
): (Record<string, number | string | boolean> & Pick<AdmissionRefusal, 'hasRoomForOthers'>) | undefined => {
  const limit = rules.limits.maxCalls
  if (calls >= limit) return { calls, limit }
  const domainCalls = app ? rules.counts.domainCalls(app.id) : 0
  if (app?.maxCalls !== undefined && domainCalls >= app.maxCalls)
    return { domainCalls, domainLimit: app.maxCalls, hasRoomForOthers: true }
  const endpointCalls = endpoint ? rules.counts.endpointCalls(endpoint.id) : 0
  if (endpoint?.maxCalls !== undefined && endpointCalls >= endpoint.maxCalls)
    return { endpointCalls, endpointLimit: endpoint.maxCalls, hasRoomForOthers: true }
  const sourceCalls = app ? rules.counts.sourceCalls(app.id, source) : 0
  if (app?.maxCallsOfSource !== undefined && sourceCalls >= app.maxCallsOfSource)
    return { sourceCalls, sourceLimit: app.maxCallsOfSource, hasRoomForOthers: true }
  const carrierCalls = carrier ? rules.counts.carrierCalls(carrier.name) : 0
  if (carrier?.maxCalls !== undefined && carrierCalls >= carrier.maxCalls)
    return { carrier: carrier.name, carrierCalls, carrierLimit: carrier.maxCalls }
  return undefined
}

/**
 * Returns the rates of new calls that the call counts in. The carrier's rate is counted by the carrier,
 * together with outbound calls.
 */
export const callRatesOf = (
  { app, endpoint }: IdentifiedCaller,
  { source }: AdmissionFacts,
  { limits }: AdmissionRules,
): Rate[] => {
  const rates = [
    { key: gatewayRateKey, perSecond: limits.callsPerSecond },
    { key: `app ${app?.id}`, perSecond: app?.callsPerSecond },
    { key: `source ${senderOf(source)} of ${app?.id}`, perSecond: app?.callsPerSecondOfSource },
    { key: endpointRate(endpoint?.id), perSecond: endpoint?.callsPerSecond },
  ]
  return rates.flatMap(({ key, perSecond }) => (perSecond === undefined ? [] : [{ key, perSecond }]))
}
