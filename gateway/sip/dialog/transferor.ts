import { canonicalHost } from '../../../config/networks.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import { planEndpointCall } from '../admission/endpoint-dial-plan.ts'
import type { SipDialog } from '../srf.ts'
import { type DialogOrigin, isSameOrigin } from './known-dialogs.ts'
import type { NamedDialog, ReferTo } from './refer-to.ts'
import type { Transfers } from './transfers.ts'

/** Target of a transfer, or the status that rejects it. */
export type TransferTarget = { readonly to: string } | { readonly refuse: 403 | 404 }

/** Peer of a dialog as a party that may request transfers (RFC 5589), with its permissions. */
export class Transferor {
  readonly origin: DialogOrigin
  readonly #transfers: Transfers

  constructor(transfers: Transfers, origin: DialogOrigin) {
    this.#transfers = transfers
    this.origin = origin
  }

  /** Makes the dialog known, so that Replaces can name it. Returns the function that removes it. */
  register(names: NonNullable<SipDialog['sip']>, leg: Leg): () => void {
    return this.#transfers.dialogs.add({ ...names, leg, origin: this.origin })
  }

  /** Returns the leg of another dialog of the same party; undefined if there is no such dialog. */
  legOf(named: NamedDialog): Leg | undefined {
    const other = this.#transfers.dialogs.find(named)
    return other && isSameOrigin(other.origin, this.origin) ? other.leg : undefined
  }

  /**
   * Returns the target of a REFER. The sender may only name targets that it may call itself. An endpoint may
   * name addresses of the gateway, and numbers and SIP URIs if it may dial out. Other parties, carriers among
   * them, may name public addresses only. Otherwise a carrier's REFER could make the gateway pay for any
   * call, and could bypass the domain's handler. Unknown targets are rejected at once, not by a later NOTIFY
   * (RFC 3515 section 2.4.2).
   */
  target(referTo: ReferTo): TransferTarget {
    const target = this.#permitted(referTo)
    if ('refuse' in target) return target
    return this.#transfers.rules.addresses.resolve(target.to, this.origin.projectId)
      ? target
      : { refuse: 404 }
  }

  /**
   * Counts the call that a REFER leads to. Returns the function that ends the count, or the limit that is
   * reached, which is counted as a rejection.
   */
  countCall(): (() => void) | Code {
    const { endpoint } = this.origin
    const counted = endpoint ? this.#transfers.rules.countReferral(endpoint) : () => {}
    if (typeof counted === 'string') this.countRefusal(counted)
    return counted
  }

  /** Counts a transfer that was rejected. */
  countRefusal(code: Code): void {
    this.#transfers.metrics.rejections.inc({ code })
  }

  /** See {@link Transfers.join}. */
  join(first: Leg, second: Leg, accepted: () => void): Promise<boolean> {
    return this.#transfers.join(first, second, accepted)
  }

  #permitted(referTo: ReferTo): TransferTarget {
    const { projectId, endpoint } = this.origin
    const { rules } = this.#transfers
    const mayDialOut = endpoint?.mayDialOut === true
    if (referTo.kind === 'uri' && rules.isOwnHost(canonicalHost(referTo.uri.host), projectId)) {
      const caller = { projectId, address: endpoint?.address ?? '/public/-', mayDialOut, handler: undefined }
      const plan = planEndpointCall(referTo.uri, caller, rules.addresses)
      if ('refuse' in plan) return { refuse: plan.refuse === 'not_permitted' ? 403 : 404 }
      if (plan.kind !== 'dial') return { refuse: 404 }
      return endpoint || plan.to.startsWith('/public/') ? { to: plan.to } : { refuse: 403 }
    }
    if (!mayDialOut) return { refuse: 403 }
    return { to: referTo.kind === 'uri' ? referTo.uri.bare : referTo.number }
  }
}
