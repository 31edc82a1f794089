import { senderOf } from '@trunkline/sip-agent/networks'
import type {
  AdmissionFacts,
  AdmissionRefusal,
  AdmissionRules,
  CheckedFacts,
  IdentifiedCaller,
  Rate,
} from './admission-types.ts'

/** Limits of callers whose address is in no allow list and who have shown no password. */
export interface UntrustedLimits {
  /**
   * Maximum number of calls at once of one address, over all domains. A domain's own `maxCallsOfSource`
   * replaces it there.
   */
  readonly maxCallsOfSource: number
  /** New calls a second of one address. A domain's own `callsPerSecondOfSource` replaces it there. */
  readonly callsPerSecondOfSource: number
  /**
   * Maximum number of calls at once over UDP of callers who have not yet proved that they receive messages at
   * their address.
   */
  readonly maxUnconfirmedCalls: number
  /**
   * Per cent of the gateway's calls, RTP ports and new calls a second that are reserved for trusted callers.
   */
  readonly reservedPercent: number
}

const totalRate = 'strangers'

/**
 * Whether a caller has not yet proved that it receives messages at its address: the source of a datagram can
 * be forged.
 */
export const isUnconfirmed = (
  { standing }: IdentifiedCaller,
  { transport }: Pick<AdmissionFacts, 'transport'>,
): boolean => standing === 'untrusted' && transport.toLowerCase() === 'udp'

/** Returns the rates that the call of an untrusted caller counts in; none for other callers. */
export const untrustedRates = (
  caller: IdentifiedCaller,
  { source }: AdmissionFacts,
  { limits }: AdmissionRules,
): Rate[] => {
  const { untrusted, callsPerSecond } = limits
  if (!untrusted || caller.standing !== 'untrusted') return []
  const rates = [{ key: totalRate, perSecond: share(callsPerSecond, untrusted) }]
  if (caller.app?.callsPerSecondOfSource === undefined)
    rates.push({ key: sourceRate(source), perSecond: untrusted.callsPerSecondOfSource })
  return rates
}

/** Step 5 of `decideAdmission`: checks the limits of untrusted callers. */
export const checkUntrusted = (
  caller: IdentifiedCaller,
  facts: AdmissionFacts,
  rules: AdmissionRules,
): AdmissionRefusal | undefined => {
  const { untrusted } = rules.limits
  if (!untrusted || caller.standing !== 'untrusted') {
    rules.note?.('strangers', { caller: shownStanding(caller) })
    return undefined
  }
  const refusal =
    sourceRefusal(caller, facts, rules, untrusted) ??
    unconfirmedRefusal(caller, facts, rules, untrusted) ??
    shareRefusal(facts, rules, untrusted)
  if (!refusal) {
    rules.note?.('strangers', { caller: shownStanding(caller), ...untrusted })
    return undefined
  }
  const { source, transport } = facts
  const checked = { source, transport, domain: caller.domain, app: caller.app?.id }
  return { ...refusal, check: 'strangers', facts: { ...checked, ...refusal.facts } }
}

/** Returns a caller's standing as operators read it: the configuration calls untrusted callers strangers. */
const shownStanding = ({ standing }: IdentifiedCaller): string =>
  standing === 'untrusted' ? 'stranger' : standing

type Found = Pick<AdmissionRefusal, 'refuse' | 'facts' | 'hasRoomForOthers'> | undefined

const sourceRefusal = (
  { app }: IdentifiedCaller,
  { source }: AdmissionFacts,
  rules: AdmissionRules,
  { maxCallsOfSource, callsPerSecondOfSource }: UntrustedLimits,
): Found => {
  const sourceCalls = app?.maxCallsOfSource === undefined ? rules.counts.untrustedCalls(source) : 0
  if (sourceCalls >= maxCallsOfSource) {
    const found = { sourceCalls, sourceLimit: maxCallsOfSource }
    return { refuse: 'over_source_limit', facts: found, hasRoomForOthers: true }
  }
  if (app?.callsPerSecondOfSource !== undefined) return undefined
  if (rules.counts.hasRate(sourceRate(source), callsPerSecondOfSource)) return undefined
  const found = { rate: sourceRate(source), perSecond: callsPerSecondOfSource }
  return { refuse: 'over_source_rate', facts: found, hasRoomForOthers: true }
}

const unconfirmedRefusal = (
  caller: IdentifiedCaller,
  facts: AdmissionFacts,
  rules: AdmissionRules,
  { maxUnconfirmedCalls }: UntrustedLimits,
): Found => {
  const unconfirmedCalls = rules.counts.unconfirmedCalls()
  if (!isUnconfirmed(caller, facts) || unconfirmedCalls < maxUnconfirmedCalls) return undefined
  return {
    refuse: 'over_unconfirmed_limit',
    facts: { unconfirmedCalls, unconfirmedLimit: maxUnconfirmedCalls },
  }
}

const shareRefusal = (
  facts: AdmissionFacts,
  { limits, counts }: AdmissionRules,
  untrusted: UntrustedLimits,
): Found => {
  const { calls, portsFree, portsTotal } = facts
  const { reservedPercent } = untrusted
  const refused = (found: CheckedFacts): Found => ({
    refuse: 'over_stranger_share',
    facts: { ...found, reservedPercent },
  })
  const callLimit = share(limits.maxCalls, untrusted)
  if (calls >= callLimit) return refused({ calls, strangerLimit: callLimit, limit: limits.maxCalls })
  const portsReserved = portsTotal - share(portsTotal, untrusted)
  if (portsFree > 0 && portsFree <= portsReserved) return refused({ portsFree, portsReserved, portsTotal })
  const perSecond = share(limits.callsPerSecond, untrusted)
  return counts.hasRate(totalRate, perSecond) ? undefined : refused({ rate: totalRate, perSecond })
}

/**
 * Returns the part of a number that untrusted sources may take; at least one, or they could not call at all.
 */
const share = (whole: number, { reservedPercent }: UntrustedLimits): number =>
  Math.max(1, whole - Math.floor((whole * reservedPercent) / 100))

const sourceRate = (source: string): string => `stranger ${senderOf(source)}`
