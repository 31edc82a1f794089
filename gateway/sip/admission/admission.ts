import { identify } from './admission-caller.ts'
import { checkGateway, checkLimits } from './admission-limits.ts'
import type { AdmissionFacts, AdmissionRules, Admitted, Refused } from './admission-types.ts'

export type { AdmissionFacts, AdmissionRules, Admitted, Refused } from './admission-types.ts'

/** The decision. */
export type Admission = { readonly admit: Admitted } | Refused

/**
 * Whether a call is let in. The order is part of the contract, so that the same call is always refused for the same reason:
 *
 * 1. the method is INVITE, else `method_not_allowed`;
 * 2. the gateway is not draining, else `draining`, and not too busy, else `overloaded`;
 * 3. the caller may call this host: by its network, by a password, or because anyone may; else `source_not_allowed`, `unauthorized` or,
 *    for those who stand in some list, `unknown_domain` (a stranger gets one answer for every host, see {@link StrangersGet});
 * 4. there is something to run, else `no_handler` (such a call is not answered); what an endpoint dials exists, else `unknown_address`,
 *    and is permitted to it, else `not_permitted`;
 * 5. a stranger's address has made no more calls than strangers may, else `over_source_limit` or `over_source_rate`; not too many
 *    strangers have yet to prove their address, else `over_unconfirmed_limit`; and what is left of calls, ports and rate is more than
 *    what is kept for others, else `over_stranger_share`;
 * 6. the gateway's, the application's or the endpoint's, the application's for this source and the carrier's limit of calls is not
 *    reached, else `over_call_limit`;
 * 7. nor that of new calls a second of the gateway, the application, the application for this source, the endpoint and the carrier, else
 *    `over_call_rate`;
 * 8. a media port is free, else `no_ports`.
 */
export const admit = (facts: AdmissionFacts, rules: AdmissionRules): Admission => {
  const refusal = checkGateway(facts, rules)
  if (refusal) return refusal
  const caller = identify(facts, rules)
  return 'refuse' in caller ? caller : checkLimits(caller, facts, rules)
}
