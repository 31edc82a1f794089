import type { Clock } from '../clock.ts'
import type { SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/types.ts'
import type { Timers } from './timers.ts'
import { Transaction, type TransactionHooks } from './transaction.ts'

/**
 * Reason for the end of a client transaction without a final response: timeout, or failure of the transport.
 */
export type ClientFailure = 'timeout' | 'transport'

/** Callbacks of a client transaction. */
export interface ClientHooks extends TransactionHooks {
  /** Receives a response for the layer above; for an INVITE also retransmitted 2xx responses. */
  response(response: SipResponse, flow: Flow, size: number): void
  /** Called once, in place of a final response. */
  failed(why: ClientFailure): void
}

/** Callbacks of an INVITE client transaction. */
export interface InviteClientHooks extends ClientHooks {
  /** Builds the ACK to a final response other than 2xx (RFC 3261 17.1.1.3). */
  ack(response: SipResponse): Buffer
}

/** State of an INVITE client transaction (RFC 3261 17.1.1 with RFC 6026). */
export type InviteClientState = 'calling' | 'proceeding' | 'completed' | 'accepted'

/** Transaction of an INVITE that the agent sends. */
export class InviteClientTransaction extends Transaction<InviteClientState, InviteClientHooks> {
  #request: Buffer | undefined
  #ack: Buffer | undefined

  constructor(clock: Clock, timers: Timers, hooks: InviteClientHooks) {
    super(clock, timers, hooks, 'calling')
  }

  /** Sends the request for the first time. */
  start(request: Buffer): void {
    this.#request = request
    this.hooks.send(request)
    if (this.current !== 'calling') return
    if (!this.hooks.isReliable) this.#timerA(this.timers.t1)
    // Timer B.
    this.limit = this.clock.after(64 * this.timers.t1, () => this.#fail('timeout'))
  }

  /** Handles a response that matched this transaction. */
  receive(response: SipResponse, flow: Flow, size: number): void {
    if (this.current === 'calling') this.#calling(response, flow, size)
    else if (this.current === 'proceeding') this.#proceeding(response, flow, size)
    else if (this.current === 'completed') this.#completed(response)
    else if (this.current === 'accepted') this.#accepted(response, flow, size)
  }

  /** Handles a failure of the transport. */
  transportFailed(): void {
    if (this.current === 'calling' || this.current === 'proceeding') this.#fail('transport')
  }

  /** Ends the transaction as if no response had arrived, for instance some time after its CANCEL. */
  giveUp(): void {
    if (this.current === 'calling' || this.current === 'proceeding') this.#fail('timeout')
  }

  #calling(response: SipResponse, flow: Flow, size: number): void {
    this.stopTimers()
    this.#request = undefined
    this.current = 'proceeding'
    this.#proceeding(response, flow, size)
  }

  #proceeding(response: SipResponse, flow: Flow, size: number): void {
    if (response.status >= 300) this.#enterCompleted(response)
    else if (response.status >= 200) this.#enterAccepted()
    this.hooks.response(response, flow, size)
  }

  #completed(response: SipResponse): void {
    if (response.status >= 300 && this.#ack) this.hooks.send(this.#ack)
  }

  #accepted(response: SipResponse, flow: Flow, size: number): void {
    // RFC 6026 7.2: retransmitted 2xx, also of other forks, are left to the layer above.
    if (response.status >= 200 && response.status < 300) this.hooks.response(response, flow, size)
  }

  #enterCompleted(response: SipResponse): void {
    this.current = 'completed'
    this.#ack = this.hooks.ack(response)
    this.hooks.send(this.#ack)
    // Timer D: at least 32 s, zero on a reliable transport. Deferred so that `ended` follows `response`.
    const wait = this.hooks.isReliable ? 0 : 64 * this.timers.t1
    this.limit = this.clock.after(wait, () => this.terminate())
  }

  #enterAccepted(): void {
    this.current = 'accepted'
    // Timer M (RFC 6026 7.2).
    this.limit = this.clock.after(64 * this.timers.t1, () => this.terminate())
  }

  #timerA(interval: number): void {
    this.retransmit = this.clock.after(interval, () => {
      if (this.#request) this.hooks.send(this.#request)
      this.#timerA(interval * 2)
    })
  }

  #fail(why: ClientFailure): void {
    this.terminate()
    this.hooks.failed(why)
  }

  protected override forget(): void {
    this.#request = undefined
    this.#ack = undefined
  }
}
