import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { CarrierRequests } from './carrier-requests.ts'

/** Collaborators of the pings and of the registration of one carrier. */
export interface TrunkDeps {
  readonly requests: Pick<CarrierRequests, 'send'>
  readonly clock: Clock
  readonly log: Log
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
}
