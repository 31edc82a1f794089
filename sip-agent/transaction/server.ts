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
 * Returns the time until the client's timer E is reset to T2. No 100 may be sent earlier (RFC 4320 4.1). It
 * would move the client to Proceeding, where it waits T2 between retransmissions (RFC 3261 17.1.2.2).
 */
const tryingDelay = ({ t1, t2 }: Timers): number => {
  let elapsed = 0
  for (let interval = t1; interval < t2; interval *= 2) elapsed += interval
  return elapsed
}

/**
 * Transaction of a received request other than INVITE and ACK. It keeps only the latest response. The only
 * provisional response that it sends is a 100, on an unreliable transport and after {@link tryingDelay} (RFC
 * 4320). It never sends a 408, which would arrive after the client's time-out.
 */
export class ServerTransaction extends Transaction<ServerState, ServerHooks> {
  /**
   * Latest response as Latin-1 text. The text takes no more memory than its bytes; a buffer could keep a
   * whole slab of the buffer pool in memory.
   */
  #last: string | undefined
  /** Returns the 100 to be sent if no final response is sent in time. */
  #trying: (() => Buffer) | undefined

  /** `trying`: returns the 100 for a late final response; without it, no 100 is sent. */
  constructor(clock: Clock, timers: Timers, hooks: ServerHooks, trying?: () => Buffer) {
    super(clock, timers, hooks, 'trying')
    this.#trying = trying
    if (hooks.isReliable) return
    this.limit = clock.after(tryingDelay(timers), () => this.#late())
  }

  /**
   * Handles a response of the layer above. Sends a final response at once, a 100 only after the delay, and no
   * other provisional response. Returns false after a final response.
   */
  respond(status: number, bytes: Buffer): boolean {
    return this.#handle({ kind: 'respond', status, bytes })
  }

  /** Handles a retransmission of the request. */
  retransmitted(): void {
    this.#handle({ kind: 'request' })
  }

  /** Does nothing: an ACK never belongs to a non-INVITE transaction. */
  acknowledged(): void {}

  #handle(event: Event): boolean {
    if (event.kind === 'request') {
      // In state Trying, no response has been sent that could be repeated.
      if (this.#last !== undefined) this.hooks.send(Buffer.from(this.#last, 'latin1'))
      return this.current !== 'terminated'
    }
    if (this.current === 'completed' || this.current === 'terminated') return false
    if (event.status >= 200) this.#final(event.status, event.bytes)
    else if (event.status === 100) this.#trying = () => event.bytes
    return true
  }

  /** Sends the 100, because the final response is late. */
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
