import type { Cause } from '../../core/errors/catalogue.ts'
import type { Leg } from '../leg/leg.ts'
import type {
  OutboundLocal,
  OutboundRequest,
  OutboundSip,
  OutboundSubscriber,
} from '../leg/outbound-request.ts'
import { type DestinationDeps, type DialableTarget, targetsOf } from './destinations.ts'

/** Collaborators of a {@link LegDialer}. */
export interface LegDialerDeps extends DestinationDeps {
  readonly sip: OutboundSip
  readonly subscribers: OutboundSubscriber
  readonly locals: OutboundLocal
}

/** Finds the targets of destinations, and makes outbound legs to them. */
export class LegDialer {
  readonly #deps: LegDialerDeps

  constructor(deps: LegDialerDeps) {
    this.#deps = deps
  }

  /** Returns the targets of a destination as {@link targetsOf} does. */
  targetsOf(to: string, projectId: string): readonly DialableTarget[] | Cause {
    return targetsOf(to, projectId, this.#deps)
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
