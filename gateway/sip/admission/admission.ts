import type { SipUri } from '../../core/sip-uri.ts'
import { printable } from '../headers.ts'
import type { SipRequest } from '../srf.ts'
import { decideAdmission } from './admission-decision.ts'
import type { AdmissionLimits, AdmissionRefusal, AdmissionRules } from './admission-types.ts'
import type { AdmittedCall, CallCounts } from './call-counts.ts'
import { type Challenger, digestRequestOf } from './challenger.ts'
import type { GatewayLoad } from './gateway-load.ts'
import { telTarget } from './tel-target.ts'
import type { Trust } from './trust.ts'

/** Collaborators of {@link Admission}. */
export interface AdmissionDeps {
  readonly directory: AdmissionRules['directory']
  readonly trust: Trust
  readonly challenger: Pick<Challenger, 'check'>
  readonly counts: CallCounts
  readonly load: GatewayLoad
}

/** Decides on INVITEs outside calls, and counts those that are admitted. */
export class Admission {
  readonly #deps: AdmissionDeps
  readonly #limits: AdmissionLimits

  /** `limits` are read at each call. */
  constructor(deps: AdmissionDeps, limits: AdmissionLimits) {
    this.#deps = deps
    this.#limits = limits
  }

  /** Returns the target of an INVITE to a `tel:` URI; undefined if no domain application takes it. */
  telTarget({ uri, source_address: source }: Pick<SipRequest, 'uri' | 'source_address'>): SipUri | undefined {
    return telTarget(uri, source, this.#deps)
  }

  /**
   * Decides on an INVITE, and counts the call if it is admitted. `settingUp`: number of received calls that
   * are not in progress yet.
   */
  admit(request: SipRequest, target: SipUri, settingUp: number): AdmittedCall | AdmissionRefusal {
    const { directory, trust, challenger, counts } = this.#deps
    const { isDraining, busyPercent, calls, ports } = this.#deps.load
    const { method, source_address: source } = request
    const decision = decideAdmission(
      {
        method,
        source,
        target,
        transport: printable(request.protocol, 8),
        isDraining,
        busyPercent,
        calls: calls + settingUp,
        portsFree: ports.total - ports.used,
        portsTotal: ports.total,
        checkDigest: (realm, secretOf) => challenger.check(digestRequestOf(request), realm, secretOf),
      },
      { directory, trust, limits: this.#limits, counts },
    )
    return 'admit' in decision ? counts.take(decision.admit, source) : decision
  }
}
