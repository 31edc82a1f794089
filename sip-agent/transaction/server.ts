import type { Clock } from '../clock.ts'
import type { ServerHooks } from './invite-server.ts'
import type { Timers } from './timers.ts'
import { Transaction } from './transaction.ts'

/** State of a non-INVITE server transaction (RFC 3261 17.2.2). */
export type ServerState = 'trying' | 'proceeding' | 'completed'

type Event =
  | { readonly kind: 'respond'; readonly status: number; readonly bytes: Buffer }
  | { readonly kind: 'request' }

/**
 * Returns the time until the sender's timer E has grown to T2 (RFC 4320 4.1): from then on a 100 prevents
 * retransmissions.
 */
const tryingDelay = ({ t1, t2 }: Timers): number => {
  let elapsed = 0
  for (let interval = t1; interval < t2; interval *= 2) elapsed += interval
  return elapsed
}

/**
 * Transaction of a received request other than INVITE and ACK. It keeps only the latest response. By RFC 4320
 * such a request gets no provisional response but 100, and on an unreliable transport only after some time.
 * It never gets a 408, which would arrive after the sender has given up.
 */
export class ServerTransaction extends Transaction<ServerState, ServerHooks> {
  /**
   * Latest response as Latin-1 text. It takes no more memory than its bytes, while a buffer would keep a
   * whole slab of the buffer pool.
   */
  #last: string | undefined
  #trying: (() => Buffer) | undefined

  constructor(clock: Clock, timers: Timers, hooks: ServerHooks, trying?: () => Buffer) {
    super(clock, timers, hooks, 'trying')
    this.#trying = trying
    if (hooks.isReliable) return
    this.limit = clock.after(tryingDelay(timers), () => this.#late())
  }

  /** Sends a response of the layer above. Returns false after a final response. */
  respond(status: number, bytes: Buffer): boolean {
    return this.#handle({ kind: 'respond', status, bytes })
  }

  /** Handles a retransmission of the request. */
  retransmitted(): void {
    this.#handle({ kind: 'request' })
  }

  /** Does nothing: an ACK never belongs to such a transaction. */
  acknowledged(): void {}

  #handle(event: Event): boolean {
    if (event.kind === 'request') {
      // In state Trying, no response exists that could be repeated.
      if (this.#last !== undefined) this.hooks.send(Buffer.from(this.#last, 'latin1'))
      return this.current !== 'terminated'
    }
    if (this.current === 'completed' || this.current === 'terminated') return false
    if (event.status >= 200) this.#final(event.status, event.bytes)
    else if (event.status === 100) this.#trying = () => event.bytes
    return true
  }

  /** Sends the 100 of a late response. */
  #late(): void {
    this.limit = undefined
    const bytes = this.#trying?.()
    this.#trying = undefined
    if (!bytes) return
    this.current = 'proceeding'
    this.#send(bytes)
  }

  #final(status: number, bytes: Buffer): void {
    this.limit?.cancel()
    this.#trying = undefined
    this.#last = undefined
    this.current = 'completed'
    if (status !== 408) this.#send(bytes)
    // Timer J: zero on a reliable transport.
    if (this.hooks.isReliable) this.terminate()
    else this.limit = this.clock.after(64 * this.timers.t1, () => this.terminate())
  }

  #send(bytes: Buffer): void {
    this.#last = bytes.toString('latin1')
    this.hooks.send(bytes)
  }

  protected override forget(): void {
    this.#last = undefined
    this.#trying = undefined
  }
}
