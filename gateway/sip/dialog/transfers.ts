import type { Edge } from '../../../media/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { joinCalls } from '../../calls/local/join-calls.ts'
import type { Clock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { AddressBook } from '../../model.ts'
import { type DialogOrigin, Dialogs } from './known-dialogs.ts'
import { Transferor } from './transferor.ts'

/** Rules of {@link Transfers}. */
export interface TransferRules {
  readonly addresses: AddressBook
  /**
   * Whether a canonical host belongs to the gateway: a domain of the project, a registrar, or a listening
   * address.
   */
  isOwnHost(host: string, projectId: string): boolean
  /** Counts a call that an endpoint makes by a REFER; see `CallCounts.takeReferral`. */
  countReferral(endpoint: NonNullable<DialogOrigin['endpoint']>): (() => void) | Code
}

/** Transfers between the calls of one gateway: known dialogs, rules, and the join of two calls. */
export class Transfers {
  readonly dialogs = new Dialogs()
  readonly rules: TransferRules
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly #edge: Pick<Edge, 'open'>
  readonly #clock: Pick<Clock, 'now'>

  constructor(
    rules: TransferRules,
    edge: Pick<Edge, 'open'>,
    clock: Pick<Clock, 'now'>,
    metrics: Pick<Metrics, 'rejections'>,
  ) {
    this.rules = rules
    this.metrics = metrics
    this.#edge = edge
    this.#clock = clock
  }

  /** Returns a party that may request transfers. */
  transferor(origin: DialogOrigin): Transferor {
    return new Transferor(this, origin)
  }

  /** See {@link joinCalls}. */
  join(first: Leg, second: Leg, accepted: () => void): Promise<boolean> {
    return joinCalls(this.#edge, [first, second], () => this.#clock.now(), accepted)
  }
}
