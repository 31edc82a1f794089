import { canonicalHost } from '../../../config/networks.ts'
import type { Edge } from '../../../media/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { AddressBook } from '../../model.ts'
import { planOf } from '../admission/dial-plan.ts'
import { type DialogOrigin, Dialogs } from './known-dialogs.ts'
import type { ReferTo } from './refer-to.ts'
import { twinLegs } from './twin-legs.ts'

/** Collaborators of {@link Transfers}. */
export interface TransfersDeps {
  readonly addresses: AddressBook
  /**
   * Whether a canonical host belongs to the gateway: a domain of the project, a registrar, or a listening
   * address.
   */
  readonly isOurs: (host: string, projectId: string) => boolean
  readonly edge: Pick<Edge, 'open'>
  readonly clock: Pick<Clock, 'now'>
  /** Counts a call that an endpoint has made by a REFER; see `Door.refer`. */
  readonly count: (endpoint: NonNullable<DialogOrigin['endpoint']>) => (() => void) | Code
  readonly metrics: Pick<Metrics, 'rejections'>
}

/** Target of a transfer, or the status that refuses it. */
export type TransferTarget = { readonly to: string } | { readonly refuse: 403 | 404 }

/** Rules for transfers: permitted targets of a REFER, and the join of two calls of one party. */
export class Transfers {
  readonly dialogs = new Dialogs()
  #deps: TransfersDeps

  constructor(deps: TransfersDeps) {
    this.#deps = deps
  }

  /**
   * Returns the target of a REFER. The party that asks may only name targets that it may call itself. An
   * endpoint may name addresses of the gateway, and numbers and SIP URIs if it may dial out. Other parties,
   * carriers among them, may name public addresses only. Otherwise a carrier's REFER could make the gateway
   * pay for any call, and could bypass the domain's handler. Unknown targets are refused at once, not by a
   * later NOTIFY (RFC 3515 section 2.4.2).
   */
  target(referTo: ReferTo, origin: DialogOrigin): TransferTarget {
    const target = this.#permitted(referTo, origin)
    if ('refuse' in target) return target
    return this.#deps.addresses.resolve(target.to, origin.projectId) ? target : { refuse: 404 }
  }

  /**
   * Counts the call that a REFER leads to. Returns the function that ends the count, or the limit that is
   * reached, which is counted as a rejection.
   */
  enter({ endpoint }: DialogOrigin): (() => void) | Code {
    const entered = endpoint ? this.#deps.count(endpoint) : () => {}
    if (typeof entered === 'string') this.refused(entered)
    return entered
  }

  /** Counts a transfer that was refused. */
  refused(code: Code): void {
    this.#deps.metrics.rejections.inc({ code })
  }

  #permitted(referTo: ReferTo, { projectId, endpoint }: DialogOrigin): TransferTarget {
    const { addresses, isOurs } = this.#deps
    const mayDialOut = endpoint?.mayDialOut === true
    if (referTo.kind === 'uri' && isOurs(canonicalHost(referTo.uri.host), projectId)) {
      const caller = { projectId, address: endpoint?.address ?? '/public/-', mayDialOut, handler: undefined }
      const plan = planOf(referTo.uri, caller, addresses)
      if ('refuse' in plan) return { refuse: plan.refuse === 'not_permitted' ? 403 : 404 }
      if (plan.kind !== 'dial') return { refuse: 404 }
      return endpoint || plan.to.startsWith('/public/') ? { to: plan.to } : { refuse: 403 }
    }
    if (!mayDialOut) return { refuse: 403 }
    return { to: referTo.kind === 'uri' ? referTo.uri.bare : referTo.number }
  }

  /**
   * Joins the other parties of two calls: `first` and `second` are legs of one party and end. `accepted` is
   * called before they end. Resolves to false, with nothing changed, if the join is impossible.
   */
  async join(first: Leg, second: Leg, accepted: () => void): Promise<boolean> {
    const { edge, clock } = this.#deps
    const twins = await twinLegs(edge, first, second, () => clock.now())
    if (!twins) return false
    const [here, there] = twins
    try {
      if (!second.replaced(there)) {
        here.end({ code: 'canceled' })
        return false
      }
      accepted()
      if (!first.replaced(here)) here.end({ code: 'normal' })
      return true
    } catch (error) {
      // Also ends its twin.
      here.end({ code: 'internal' })
      throw error
    }
  }
}
