import type { Clock, Timer } from '../clock.ts'
import type { SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/types.ts'
import type { Timers } from './timers.ts'

/**
 * Reason for the end of a client transaction without a final response: timeout, or failure of the transport.
 */
export type ClientFailure = 'timeout' | 'transport'

/** Callbacks of a client transaction. */
export interface ClientHooks {
  /** Whether the transport is reliable, such as TCP. */
  readonly isReliable: boolean
  send(bytes: Buffer): void
  /** Receives a response for the layer above; for an INVITE also retransmitted 2xx responses. */
  response(response: SipResponse, flow: Flow, size: number): void
  /** Called once, in place of a final response. */
  failed(why: ClientFailure): void
  /** Called once, at the end of the transaction. */
  ended(): void
}

/** Callbacks of an INVITE client transaction. */
export interface InviteClientHooks extends ClientHooks {
  /** Builds the ACK to a final response other than 2xx (RFC 3261 17.1.1.3). */
  ack(response: SipResponse): Buffer
}

/** State of an INVITE client transaction (RFC 3261 17.1.1 with RFC 6026). */
export type InviteClientState = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated'

/** Transaction of an INVITE that the agent sends. */
export class InviteClientTransaction {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #hooks: InviteClientHooks
  #state: InviteClientState = 'calling'
  #request: Buffer | undefined
  #ack: Buffer | undefined
  #retransmit: Timer | undefined
  #limit: Timer | undefined

  constructor(clock: Clock, timers: Timers, hooks: InviteClientHooks) {
    this.#clock = clock
    this.#timers = timers
    this.#hooks = hooks
  }

  get state(): InviteClientState {
    return this.#state
  }

  /** Sends the request for the first time. */
  start(request: Buffer): void {
    this.#request = request
    this.#hooks.send(request)
    if (this.#state !== 'calling') return
    if (!this.#hooks.isReliable) this.#timerA(this.#timers.t1)
    // Timer B.
    this.#limit = this.#clock.after(64 * this.#timers.t1, () => this.#fail('timeout'))
  }

  /** Handles a response that matched this transaction. */
  receive(response: SipResponse, flow: Flow, size: number): void {
    if (this.#state === 'calling') this.#calling(response, flow, size)
    else if (this.#state === 'proceeding') this.#proceeding(response, flow, size)
    else if (this.#state === 'completed') this.#completed(response)
    else if (this.#state === 'accepted') this.#accepted(response, flow, size)
  }

  /** Handles a failure of the transport. */
  transportFailed(): void {
    if (this.#state === 'calling' || this.#state === 'proceeding') this.#fail('transport')
  }

  /** Ends the transaction as if no response had arrived, for instance some time after its CANCEL. */
  giveUp(): void {
    if (this.#state === 'calling' || this.#state === 'proceeding') this.#fail('timeout')
  }

  /** Drops the transaction. */
  stop(): void {
    this.#terminate()
  }

  #calling(response: SipResponse, flow: Flow, size: number): void {
    this.#stopTimers()
    this.#request = undefined
    this.#state = 'proceeding'
    this.#proceeding(response, flow, size)
  }

  #proceeding(response: SipResponse, flow: Flow, size: number): void {
    if (response.status >= 300) this.#enterCompleted(response)
    else if (response.status >= 200) this.#enterAccepted()
    this.#hooks.response(response, flow, size)
  }

  #completed(response: SipResponse): void {
    if (response.status >= 300 && this.#ack) this.#hooks.send(this.#ack)
  }

  #accepted(response: SipResponse, flow: Flow, size: number): void {
    // RFC 6026 7.2: retransmitted 2xx, also of other forks, are left to the layer above.
    if (response.status >= 200 && response.status < 300) this.#hooks.response(response, flow, size)
  }

  #enterCompleted(response: SipResponse): void {
    this.#state = 'completed'
    this.#ack = this.#hooks.ack(response)
    this.#hooks.send(this.#ack)
    // Timer D: at least 32 s, zero on a reliable transport. Deferred so that `ended` follows `response`.
    const wait = this.#hooks.isReliable ? 0 : 64 * this.#timers.t1
    this.#limit = this.#clock.after(wait, () => this.#terminate())
  }

  #enterAccepted(): void {
    this.#state = 'accepted'
    // Timer M (RFC 6026 7.2).
    this.#limit = this.#clock.after(64 * this.#timers.t1, () => this.#terminate())
  }

  #timerA(interval: number): void {
    this.#retransmit = this.#clock.after(interval, () => {
      if (this.#request) this.#hooks.send(this.#request)
      this.#timerA(interval * 2)
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
    this.#ack = undefined
    this.#stopTimers()
    this.#hooks.ended()
  }
}
