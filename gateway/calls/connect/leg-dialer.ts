import type { Cause } from '../../core/errors/catalogue.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { AddressBook, Target } from '../../model.ts'
import type { Leg } from '../leg/leg.ts'
import type {
  Endpoints,
  OutboundLocal,
  OutboundRequest,
  OutboundSip,
  OutboundSubscriber,
} from '../leg/outbound-request.ts'

/** Target of one leg. */
export type DialableTarget = Exclude<Target, { kind: 'endpoint' }>

/** Collaborators of a {@link LegDialer}. */
export interface LegDialerDeps {
  readonly addresses: AddressBook
  /** Default: no endpoint is registered. */
  readonly endpoints?: Endpoints
  readonly sip: OutboundSip
  readonly subscribers: OutboundSubscriber
  readonly locals: OutboundLocal
}

/** Returns the code for a destination that nothing has: a telephone number needs a carrier. */
export const missingTargetCode = (to: string): 'no_carrier' | 'unknown_address' =>
  /^\+?\d+$/.test(to.trim()) ? 'no_carrier' : 'unknown_address'

/** Finds the targets of destinations, and makes outbound legs to them. */
export class LegDialer {
  readonly #deps: LegDialerDeps

  constructor(deps: LegDialerDeps) {
    this.#deps = deps
  }

  /**
   * Returns the targets of a destination for a project: one, or each contact of an endpoint. Without a target
   * it returns the cause.
   */
  targetsOf(to: string, projectId: string): readonly DialableTarget[] | Cause {
    const target = this.#deps.addresses.resolve(to, projectId)
    if (!target) return { code: missingTargetCode(to), detail: shownUri(to) }
    if (target.kind !== 'endpoint') return [target]
    const { endpointId } = target
    const contacts = this.#deps.endpoints?.contacts(endpointId) ?? []
    return contacts.length === 0
      ? { code: 'not_online', detail: to }
      : contacts.map((contact) => ({ ...contact, endpointId }))
  }

  /** Makes a leg in state `new`. */
  dial(target: DialableTarget, request: OutboundRequest): Leg {
    const { sip, subscribers, locals } = this.#deps
    switch (target.kind) {
      case 'sip':
        return sip.dial(target, request)
      case 'subscriber':
        return subscribers.dial(target, request)
      case 'handler':
        return locals.dial(target, request)
    }
  }
}
