import type { Clock } from '../clock.ts'
import type { SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/types.ts'
import type { ClientFailure, ClientHooks } from './invite-client.ts'
import type { Timers } from './timers.ts'
import { Transaction } from './transaction.ts'

/** State of a non-INVITE client transaction (RFC 3261 17.1.2). */
export type ClientState = 'trying' | 'proceeding' | 'completed'

/** Transaction of a request other than INVITE and ACK that the agent sends. */
export class ClientTransaction extends Transaction<ClientState, ClientHooks> {
  #request: Buffer | undefined

  constructor(clock: Clock, timers: Timers, hooks: ClientHooks) {
    super(clock, timers, hooks, 'trying')
  }

  /** Sends the request for the first time. */
  start(request: Buffer): void {
    this.#request = request
    this.hooks.send(request)
    if (this.current !== 'trying') return
    if (!this.hooks.isReliable) this.#timerE(this.timers.t1)
    // Timer F.
    this.limit = this.clock.after(64 * this.timers.t1, () => this.#fail('timeout'))
  }

  /** Handles a response that matched this transaction. */
  receive(response: SipResponse, flow: Flow, size: number): void {
    if (this.current === 'trying') this.#trying(response, flow, size)
    else if (this.current === 'proceeding') this.#proceeding(response, flow, size)
    // In state Completed, repeated responses are absorbed.
  }

  /** Handles a failure of the transport. */
  transportFailed(): void {
    if (this.current === 'trying' || this.current === 'proceeding') this.#fail('transport')
  }

  #trying(response: SipResponse, flow: Flow, size: number): void {
    this.current = 'proceeding'
    this.#proceeding(response, flow, size)
  }

  #proceeding(response: SipResponse, flow: Flow, size: number): void {
    if (response.status >= 200) this.#enterCompleted()
    this.hooks.response(response, flow, size)
  }

  #enterCompleted(): void {
    this.current = 'completed'
    this.#request = undefined
    this.stopTimers()
    // Timer K: zero on a reliable transport. Deferred so that `ended` follows `response`.
    this.limit = this.clock.after(this.hooks.isReliable ? 0 : this.timers.t4, () => this.terminate())
  }

  #timerE(interval: number): void {
    this.retransmit = this.clock.after(interval, () => {
      if (this.#request) this.hooks.send(this.#request)
      // RFC 3261 17.1.2.2: in Proceeding the interval is T2 at once.
      const next = this.current === 'proceeding' ? this.timers.t2 : interval * 2
      this.#timerE(Math.min(next, this.timers.t2))
    })
  }

  #fail(why: ClientFailure): void {
    this.terminate()
    this.hooks.failed(why)
  }

  protected override forget(): void {
    this.#request = undefined
  }
}
