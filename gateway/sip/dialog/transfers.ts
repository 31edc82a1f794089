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

/** What transfers work with. */
export interface TransfersDeps {
  readonly addresses: AddressBook
  /**
   * Whether a host (canonical) is one of ours: a domain of the project, a registrar, an address that we
   * listen on.
   */
  readonly isOurs: (host: string, projectId: string) => boolean
  readonly edge: Pick<Edge, 'open'>
  readonly clock: Pick<Clock, 'now'>
  /** Counts a call that an endpoint has made by a REFER; see `Door.refer`. */
  readonly count: (endpoint: NonNullable<DialogOrigin['endpoint']>) => (() => void) | Code
  readonly metrics: Pick<Metrics, 'rejections'>
}

/** Whom the other party is to talk to, or why that is not done. */
export type TransferTarget = { readonly to: string } | { readonly refuse: 403 | 404 }

/** Where the other party of a call may be sent by a REFER, and how two calls of one party become one. */
export class Transfers {
  readonly dialogs = new Dialogs()
  #deps: TransfersDeps

  constructor(deps: TransfersDeps) {
    this.#deps = deps
  }

  /**
   * Whom a REFER means. Whoever asks sends the other party where it may call itself: an endpoint to addresses
   * of ours, and one that may dial out to numbers and SIP URIs, too; everybody else, carriers among them,
   * only to public addresses. Else a carrier's REFER could have us call, and pay for, anybody, and would lead
   * past the domain's handler to what is for insiders. What can never ring is refused, too: it must not be
   * accepted only to be told of by NOTIFY (RFC 3515 section 2.4.2).
   */
  target(referTo: ReferTo, origin: DialogOrigin): TransferTarget {
    const target = this.#permitted(referTo, origin)
    if ('refuse' in target) return target
    return this.#deps.addresses.resolve(target.to, origin.projectId) ? target : { refuse: 404 }
  }

  /**
   * Counts the call that a REFER leads to; what comes back takes it back. Otherwise the limit that is
   * reached, which is counted, too.
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
   * Two legs of one party, in two calls, give way to each other's other parties, who are joined. `accepted`
   * is called before the legs end. False: it cannot be done, and nothing has changed.
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
      // Ends its twin, too.
      here.end({ code: 'internal' })
      throw error
    }
  }
}
