import type { Clock, Timer } from '../clock.ts'
import type { ServerHooks } from './invite-server.ts'
import type { Timers } from './timers.ts'

/** The state of a non-INVITE server transaction (RFC 3261 17.2.2). */
export type ServerState = 'trying' | 'proceeding' | 'completed' | 'terminated'

type Event =
  | { readonly kind: 'respond'; readonly status: number; readonly bytes: Buffer }
  | { readonly kind: 'request' }

/** When the sender's timer E has grown to T2 (RFC 4320 4.1): from then on a 100 spares its repetitions. */
const tryingDelay = ({ t1, t2 }: Timers): number => {
  let elapsed = 0
  for (let interval = t1; interval < t2; interval *= 2) elapsed += interval
  return elapsed
}

/**
 * A request other than INVITE and ACK that was received. It keeps no more than the last response. By RFC 4320 such a request gets no
 * provisional response but 100, that one on an unreliable transport only after a while, and never a 408: it would come too late, and
 * end at whoever has given up.
 */
export class ServerTransaction {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #hooks: ServerHooks
  #state: ServerState = 'trying'
  /** As Latin-1 text, which takes no more than its bytes; a buffer holds a whole slab of the pool. */
  #last: string | undefined
  /** Waits for the time of a 100, then for the end. */
  #limit: Timer | undefined
  #trying: (() => Buffer) | undefined

  constructor(clock: Clock, timers: Timers, hooks: ServerHooks, trying?: () => Buffer) {
    this.#clock = clock
    this.#timers = timers
    this.#hooks = hooks
    this.#trying = trying
    if (hooks.isReliable) return
    this.#limit = clock.after(tryingDelay(timers), () => this.#late())
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
    if (event.kind === 'request') {
      // Trying: there is nothing to repeat. Proceeding and completed: what was sent last.
      if (this.#last !== undefined) this.#hooks.send(Buffer.from(this.#last, 'latin1'))
      return this.#state !== 'terminated'
    }
    if (this.#state === 'completed' || this.#state === 'terminated') return false
    if (event.status >= 200) this.#final(event.status, event.bytes)
    else if (event.status === 100) this.#trying = () => event.bytes
    return true
  }

  /** The answer takes its time. */
  #late(): void {
    this.#limit = undefined
    const bytes = this.#trying?.()
    this.#trying = undefined
    if (!bytes) return
    this.#state = 'proceeding'
    this.#send(bytes)
  }

  #final(status: number, bytes: Buffer): void {
    this.#limit?.cancel()
    this.#trying = undefined
    this.#last = undefined
    this.#state = 'completed'
    if (status !== 408) this.#send(bytes)
    // Timer J: zero on a reliable transport.
    if (this.#hooks.isReliable) this.#terminate()
    else this.#limit = this.#clock.after(64 * this.#timers.t1, () => this.#terminate())
  }

  #send(bytes: Buffer): void {
    this.#last = bytes.toString('latin1')
    this.#hooks.send(bytes)
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#last = undefined
    this.#trying = undefined
    this.#limit?.cancel()
    this.#hooks.ended()
  }
}
