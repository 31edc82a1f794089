import type {
  AdmissionFacts,
  AdmissionRefusal,
  AdmissionRules,
  AdmittedCaller,
  IdentifiedCaller,
} from './admission-types.ts'
import {
  callRatesOf,
  exceededCallLimit,
  exceededCallRate,
  gatewayRateKey,
  ownCallLimits,
} from './call-limits.ts'
import { identifyCaller } from './identify-caller.ts'
import { checkUntrusted, isUnconfirmed, untrustedRates } from './untrusted-limits.ts'

export type { AdmissionFacts, AdmissionRefusal, AdmissionRules, AdmittedCaller } from './admission-types.ts'

/** Decision on one INVITE. */
export type AdmissionDecision = { readonly admit: AdmittedCaller } | AdmissionRefusal

/**
 * Decides whether a call is admitted. The order of the checks is part of the contract: a call that fails
 * several checks is always rejected for the same reason.
 *
 * 1. The method is INVITE, else `method_not_allowed`. 2. The gateway is not shutting down, else `draining`,
 * and is not too busy, else `overloaded`.
 * 3. The caller may call this host: by its network, by a password, or because the host is open to all.
 *    Otherwise `source_not_allowed`, `unauthorized` or, for a listed source, `unknown_domain`. An untrusted
 *    source gets one answer for every host, see {@link UntrustedResponse}.
 * 4. The call has a handler, else `no_handler` (such a call is not answered). The address that an endpoint
 *    dials exists, else `unknown_address`, and is permitted to the endpoint, else `not_permitted`.
 * 5. An untrusted source is within its limits, else `over_source_limit` or `over_source_rate`. The number of
 *    callers with an unproven address is below its limit, else `over_unconfirmed_limit`. Calls, ports and
 *    rate are left beyond the share reserved for trusted callers, else `over_stranger_share`.
 * 6. No limit of calls in progress is reached, else `over_call_limit`. The limits are those of the gateway,
 *    of the application or the endpoint, of the application for this source, and of the carrier.
 * 7. No limit of new calls a second is reached, else `over_call_rate`. The limits are the same.
 * 8. A media port is free, else `no_ports`.
 */
export const decideAdmission = (facts: AdmissionFacts, rules: AdmissionRules): AdmissionDecision => {
  const refusal = checkGateway(facts, rules)
  if (refusal) return refusal
  const caller = identifyCaller(facts, rules)
  return 'refuse' in caller ? caller : checkLimits(caller, facts, rules)
}

/** Steps 1 and 2: whether the gateway takes calls at all. */
const checkGateway = (facts: AdmissionFacts, rules: AdmissionRules): AdmissionRefusal | undefined => {
  const { method, source, transport, target, isDraining, busyPercent, calls } = facts
  const { limits, note } = rules
  const checked = { source, transport, domain: target.host }
  if (method !== 'INVITE')
    return { refuse: 'method_not_allowed', check: 'method', facts: { ...checked, method } }
  note?.('method', { method })
  if (isDraining) return { refuse: 'draining', check: 'draining', facts: { ...checked, calls } }
  const busy = Math.round(busyPercent)
  // A limit of 100 turns the check off, even for an event loop that is always busy.
  if (limits.busyPercent < 100 && busyPercent >= limits.busyPercent)
    return { refuse: 'overloaded', check: 'load', facts: { ...checked, busy, limit: limits.busyPercent } }
  note?.('load', { busy, limit: limits.busyPercent })
  return undefined
}

/** Steps 5 to 8 of `decideAdmission`: whether there is room for the call. */
export const checkLimits = (
  caller: IdentifiedCaller,
  facts: AdmissionFacts,
  rules: AdmissionRules,
): AdmissionDecision => {
  const { source, transport, portsFree } = facts
  const { app, endpoint, domain } = caller
  const checked = { source, transport, domain, ...(app ? { app: app.id } : { endpoint: endpoint?.username }) }
  const refusal = checkUntrusted(caller, facts, rules)
  if (refusal) return refusal
  const rates = [...callRatesOf(caller, facts, rules), ...untrustedRates(caller, facts, rules)]
  const full = exceededCallLimit(caller, facts, rules)
  if (full) {
    const { hasRoomForOthers, ...limit } = full
    return {
      refuse: 'over_call_limit',
      check: 'calls',
      facts: { ...checked, ...limit },
      hasRoomForOthers,
    }
  }
  rules.note?.('calls', { calls: facts.calls, limit: rules.limits.maxCalls, ...ownCallLimits(caller) })
  const fast = exceededCallRate(rates, rules)
  // The field must not be named `key`: the logger redacts fields of that name.
  if (fast)
    return {
      refuse: 'over_call_rate',
      check: 'rate',
      facts: { ...checked, rate: fast.key, perSecond: fast.perSecond },
      hasRoomForOthers: fast.key !== gatewayRateKey,
    }
  rules.note?.('rate', Object.fromEntries(rates.map(({ key, perSecond }) => [key, perSecond])))
  if (portsFree < 1) return { refuse: 'no_ports', check: 'ports', facts: { ...checked, portsFree } }
  rules.note?.('ports', { portsFree })
  return { admit: { ...caller, rates, isUnconfirmed: isUnconfirmed(caller, facts) } }
}
