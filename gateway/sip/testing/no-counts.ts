import type { AdmissionRules } from '../admission/admission-types.ts'

/** Counts of a gateway without calls. */
export const noCounts: AdmissionRules['counts'] = {
  domainCalls: () => 0,
  sourceCalls: () => 0,
  untrustedCalls: () => 0,
  unconfirmedCalls: () => 0,
  endpointCalls: () => 0,
  carrierCalls: () => 0,
  hasRate: () => true,
}
