import type { Clock, Timer } from '../../clock.ts'
import type { ServerHooks } from './invite-server.ts'
import type { Timers } from './timers.ts'

/** The state of a non-INVITE server transaction (RFC 3261 17.2.2). */
export type ServerState = 'trying' | 'proceeding' | 'completed' | 'terminated'

type Event =
  | { readonly kind: 'respond'; readonly status: number; readonly bytes: Buffer }
  | { readonly kind: 'request' }

/** A request other than INVITE and ACK that was received. It keeps no more than the last response. */
export class ServerTransaction {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #hooks: ServerHooks
  #state: ServerState = 'trying'
  #last: Buffer | undefined
  #limit: Timer | undefined

  constructor(clock: Clock, timers: Timers, hooks: ServerHooks) {
    this.#clock = clock
    this.#timers = timers
    this.#hooks = hooks
  }

  get state(): ServerState {
    return this.#state
  }

  /** Sends a response of the layer above. False where a final one was sent before. */
  respond(status: number, bytes: Buffer): boolean {
    return this.#handle({ kind: 'respond', status, bytes })
  }

  /** The request came again. */
  retransmitted(): void {
    this.#handle({ kind: 'request' })
  }

  /** An ACK never belongs to this kind of transaction. */
  acknowledged(): void {}

  /** Drops the transaction without a word. */
  stop(): void {
    this.#terminate()
  }

  #handle(event: Event): boolean {
    if (this.#state === 'trying') return this.#trying(event)
    if (this.#state === 'proceeding') return this.#proceeding(event)
    if (this.#state === 'completed') return this.#completed(event)
    return false
  }

  #trying(event: Event): boolean {
    return event.kind === 'request' || this.#send(event.status, event.bytes)
  }

  #proceeding(event: Event): boolean {
    if (event.kind === 'respond') return this.#send(event.status, event.bytes)
    if (this.#last) this.#hooks.send(this.#last)
    return true
  }

  #completed(event: Event): boolean {
    if (event.kind === 'respond') return false
    if (this.#last) this.#hooks.send(this.#last)
    return true
  }

  #send(status: number, bytes: Buffer): boolean {
    this.#hooks.send(bytes)
    if (status < 200) {
      this.#state = 'proceeding'
      this.#last = bytes
      return true
    }
    this.#state = 'completed'
    // Timer J: zero on a reliable transport.
    if (this.#hooks.reliable) this.#terminate()
    else {
      this.#last = bytes
      this.#limit = this.#clock.after(64 * this.#timers.t1, () => this.#terminate())
    }
    return true
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#last = undefined
    this.#limit?.cancel()
    this.#hooks.ended()
  }
}
