import { type TokenBucket, takeTokens } from '@trunkline/sip-agent/token-bucket'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'

/** Direction of a call. */
export type Direction = 'inbound' | 'outbound'

/**
 * Counts a carrier's calls against its limits. Calls in progress are counted for both directions together,
 * new calls a second for each direction.
 */
export class CarrierLoad {
  #limits: Pick<CarrierConfig, 'maxCalls' | 'callsPerSecond'>
  #clock: Pick<Clock, 'now'>
  #calls = 0
  #buckets: Record<Direction, TokenBucket>

  constructor(limits: Pick<CarrierConfig, 'maxCalls' | 'callsPerSecond'>, clock: Pick<Clock, 'now'>) {
    this.#limits = limits
    this.#clock = clock
    const full = () => ({ tokens: limits.callsPerSecond ?? 0, at: clock.now() })
    this.#buckets = { inbound: full(), outbound: full() }
  }

  /** Changes the limits. Present counts are kept. */
  limit(limits: Pick<CarrierConfig, 'maxCalls' | 'callsPerSecond'>): void {
    this.#limits = limits
  }

  /** Number of calls in progress. */
  get calls(): number {
    return this.#calls
  }

  /**
   * Counts one more call. Returns the idempotent function that ends the count. If a limit is reached, returns
   * a text that names the limit.
   */
  take(direction: Direction): (() => void) | string {
    const { maxCalls, callsPerSecond } = this.#limits
    if (maxCalls !== undefined && this.#calls >= maxCalls) return `${maxCalls} calls at once`
    if (
      callsPerSecond !== undefined &&
      !takeTokens(this.#buckets[direction], callsPerSecond, this.#clock.now())
    )
      return `${callsPerSecond} new calls a second`
    this.#calls++
    let isHeld = true
    return () => {
      if (isHeld) this.#calls--
      isHeld = false
    }
  }
}
