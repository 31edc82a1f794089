import type { Clock, Timer } from '../clock.ts'
import type { SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/types.ts'
import type { ClientFailure, ClientHooks } from './invite-client.ts'
import type { Timers } from './timers.ts'

/** State of a non-INVITE client transaction (RFC 3261 17.1.2). */
export type ClientState = 'trying' | 'proceeding' | 'completed' | 'terminated'

/** Transaction of a request other than INVITE and ACK that the agent sends. */
export class ClientTransaction {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #hooks: ClientHooks
  #state: ClientState = 'trying'
  #request: Buffer | undefined
  #retransmit: Timer | undefined
  #limit: Timer | undefined

  constructor(clock: Clock, timers: Timers, hooks: ClientHooks) {
    this.#clock = clock
    this.#timers = timers
    this.#hooks = hooks
  }

  get state(): ClientState {
    return this.#state
  }

  /** Sends the request for the first time. */
  start(request: Buffer): void {
    this.#request = request
    this.#hooks.send(request)
    if (this.#state !== 'trying') return
    if (!this.#hooks.isReliable) this.#timerE(this.#timers.t1)
    // Timer F.
    this.#limit = this.#clock.after(64 * this.#timers.t1, () => this.#fail('timeout'))
  }

  /** Handles a response that matched this transaction. */
  receive(response: SipResponse, flow: Flow, size: number): void {
    if (this.#state === 'trying') this.#trying(response, flow, size)
    else if (this.#state === 'proceeding') this.#proceeding(response, flow, size)
    // Completed: repeated responses are absorbed.
  }

  /** Handles a failure of the transport. */
  transportFailed(): void {
    if (this.#state === 'trying' || this.#state === 'proceeding') this.#fail('transport')
  }

  /** Drops the transaction. */
  stop(): void {
    this.#terminate()
  }

  #trying(response: SipResponse, flow: Flow, size: number): void {
    this.#state = 'proceeding'
    this.#proceeding(response, flow, size)
  }

  #proceeding(response: SipResponse, flow: Flow, size: number): void {
    if (response.status >= 200) this.#enterCompleted()
    this.#hooks.response(response, flow, size)
  }

  #enterCompleted(): void {
    this.#state = 'completed'
    this.#request = undefined
    this.#stopTimers()
    // Timer K: zero on a reliable transport. Deferred so that `ended` follows `response`.
    this.#limit = this.#clock.after(this.#hooks.isReliable ? 0 : this.#timers.t4, () => this.#terminate())
  }

  #timerE(interval: number): void {
    this.#retransmit = this.#clock.after(interval, () => {
      if (this.#request) this.#hooks.send(this.#request)
      // RFC 3261 17.1.2.2: in Proceeding the interval is T2 at once.
      const next = this.#state === 'proceeding' ? this.#timers.t2 : interval * 2
      this.#timerE(Math.min(next, this.#timers.t2))
    })
  }

  #fail(why: ClientFailure): void {
    this.#terminate()
    this.#hooks.failed(why)
  }

  #stopTimers(): void {
    this.#retransmit?.cancel()
    this.#limit?.cancel()
    this.#retransmit = undefined
    this.#limit = undefined
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#request = undefined
    this.#stopTimers()
    this.#hooks.ended()
  }
}
