import type { Clock } from '../core/clock.ts'
import { FixedWindowLimiter } from '../core/rates.ts'

/** Maximum numbers of exchanges of one token per minute. */
export interface ExchangeLimits {
  readonly all: number
  /** Of one network. */
  readonly ofNetwork: number
}

/** Limits how often public tokens are exchanged for others: each token in all, and by each network. */
export class ExchangeRates {
  readonly #all: FixedWindowLimiter
  readonly #ofNetworks: FixedWindowLimiter

  constructor(clock: Pick<Clock, 'now'>) {
    this.#all = new FixedWindowLimiter(clock, { attempts: 1, windowMs: 60_000 })
    this.#ofNetworks = new FixedWindowLimiter(clock, { attempts: 1, windowMs: 60_000 })
  }

  /** Counts an exchange. Returns 0 if it is allowed, otherwise the milliseconds until the next one is. */
  take(tokenId: string, network: string, { all, ofNetwork }: ExchangeLimits): number {
    return this.#ofNetworks.take(keyOf(tokenId, network), ofNetwork) || this.#all.take(tokenId, all)
  }

  /** Returns the milliseconds until an exchange is allowed; 0 if one is allowed now. Counts none. */
  waitOf(tokenId: string, network: string, { all, ofNetwork }: ExchangeLimits): number {
    return this.#ofNetworks.waitOf(keyOf(tokenId, network), ofNetwork) || this.#all.waitOf(tokenId, all)
  }
}

const keyOf = (tokenId: string, network: string): string => `${tokenId} ${network}`
