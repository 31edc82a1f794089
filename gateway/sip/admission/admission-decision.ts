import type { AdmissionFacts, AdmissionRefusal, AdmissionRules, AdmittedCaller } from './admission-types.ts'
import { checkGateway, checkLimits } from './capacity-checks.ts'
import { identifyCaller } from './identify-caller.ts'

export type { AdmissionFacts, AdmissionRefusal, AdmissionRules, AdmittedCaller } from './admission-types.ts'

/** Decision on one INVITE. */
export type AdmissionDecision = { readonly admit: AdmittedCaller } | AdmissionRefusal

/**
 * Decides whether a call is admitted. The order of the checks is part of the contract: the same call is
 * always refused for the same reason.
 *
 * 1. The method is INVITE, else `method_not_allowed`.
 * 2. The gateway does not drain, else `draining`, and is not too busy, else `overloaded`.
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
