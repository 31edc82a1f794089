import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Bridges } from './bridge.ts'
import type { Player } from './player.ts'
import type { AddressBook, Endpoints, OutboundSip, OutboundSubscriber } from './ports.ts'

/** What a hunt works with. */
export interface HuntParts {
  readonly addresses: AddressBook
  readonly sip: OutboundSip
  readonly subscribers: OutboundSubscriber
  /** Default: no endpoint is ever registered. */
  readonly endpoints?: Endpoints
  readonly bridges: Bridges
  readonly player: Player
  readonly clock: Clock
  readonly log: Log
  /** Ring time where the options say nothing, in ms. */
  readonly ringMs: number
}

/** Longest time together where the options say nothing: 4 hours. */
export const MAX_DURATION_MS = 4 * 3_600_000
