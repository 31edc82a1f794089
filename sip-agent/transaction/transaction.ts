import type { Clock, Timer } from '../clock.ts'
import type { Timers } from './timers.ts'

/** Callbacks of every transaction. */
export interface TransactionHooks {
  /** Whether the transport is reliable, such as TCP. */
  readonly isReliable: boolean
  send(bytes: Buffer): void
  /** Called once, at the end of the transaction. */
  ended(): void
}

/** State, timers and end of a transaction; each kind adds its machine (RFC 3261 17). */
export abstract class Transaction<State extends string, Hooks extends TransactionHooks> {
  protected readonly clock: Clock
  protected readonly timers: Timers
  protected readonly hooks: Hooks
  protected current: State | 'terminated'
  /** Timer of the next retransmission. */
  protected retransmit: Timer | undefined
  /** Timer that ends the current state. */
  protected limit: Timer | undefined

  constructor(clock: Clock, timers: Timers, hooks: Hooks, initial: State) {
    this.clock = clock
    this.timers = timers
    this.hooks = hooks
    this.current = initial
  }

  get state(): State | 'terminated' {
    return this.current
  }

  /** Drops the transaction. */
  stop(): void {
    this.terminate()
  }

  /** Drops the messages that were kept for retransmissions. */
  protected abstract forget(): void

  protected stopTimers(): void {
    this.retransmit?.cancel()
    this.limit?.cancel()
    this.retransmit = undefined
    this.limit = undefined
  }

  protected terminate(): void {
    if (this.current === 'terminated') return
    this.current = 'terminated'
    this.forget()
    this.stopTimers()
    this.hooks.ended()
  }
}
