import type { Clock, Timer } from '../clock.ts'
import type { SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/types.ts'
import type { Timers } from './timers.ts'

/** Why a client transaction ended without a final response: nothing came, or nothing could be sent. */
export type ClientFailure = 'timeout' | 'transport'

/** What a client transaction needs from outside. */
export interface ClientHooks {
  /** True on TCP and the like. */
  readonly isReliable: boolean
  send(bytes: Buffer): void
  /** A response that the layer above must see; for an INVITE also repeated 2xx responses. */
  response(response: SipResponse, flow: Flow, size: number): void
  /** Called once, instead of a final response. */
  failed(why: ClientFailure): void
  /** Called once, when nothing of the transaction is left. */
  ended(): void
}

/** The hooks of an INVITE client transaction. */
export interface InviteClientHooks extends ClientHooks {
  /** Makes the ACK to a final response other than 2xx (RFC 3261 17.1.1.3). */
  ack(response: SipResponse): Buffer
}

/** The state of an INVITE client transaction (RFC 3261 17.1.1 with RFC 6026). */
export type InviteClientState = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated'

/** An INVITE that we send. */
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

  /** Takes a response that matched this transaction. */
  receive(response: SipResponse, flow: Flow, size: number): void {
    if (this.#state === 'calling') this.#calling(response, flow, size)
    else if (this.#state === 'proceeding') this.#proceeding(response, flow, size)
    else if (this.#state === 'completed') this.#completed(response)
    else if (this.#state === 'accepted') this.#accepted(response, flow, size)
  }

  /** The transport cannot send. */
  transportFailed(): void {
    if (this.#state === 'calling' || this.#state === 'proceeding') this.#fail('transport')
  }

  /** Ends the transaction as if nothing had ever come, for instance a while after its CANCEL. */
  giveUp(): void {
    if (this.#state === 'calling' || this.#state === 'proceeding') this.#fail('timeout')
  }

  /** Drops the transaction without a word. */
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
    // RFC 6026 7.2: repeated 2xx, also of other forks, are the business of the layer above.
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
