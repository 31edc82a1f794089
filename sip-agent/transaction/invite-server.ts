import type { Clock } from '../clock.ts'
import type { Timers } from './timers.ts'
import { Transaction, type TransactionHooks } from './transaction.ts'

/** Callbacks of a server transaction. */
export interface ServerHooks extends TransactionHooks {
  /** For an INVITE: whether the sender's address may be spoofed; see {@link InviteServerTransaction}. */
  readonly isSpoofable?: boolean
  /** For an INVITE: whether the sender's address is unverified; see `unverifiedHeader`. Default false. */
  readonly isPeerUnverified?: () => boolean
}

/** Maximum number of retransmissions of a rejection to an address that may be spoofed. */
const maxSpoofableRepeats = 2

type Event =
  | { readonly kind: 'respond'; readonly status: number; readonly bytes: Buffer }
  | { readonly kind: 'request' }
  | { readonly kind: 'ack' }

/** State of an INVITE server transaction (RFC 3261 17.2.1 with RFC 6026). */
export type InviteServerState = 'proceeding' | 'completed' | 'accepted' | 'confirmed'

/**
 * Transaction of a received INVITE. It keeps only the latest response. If the address may be spoofed, a
 * rejection without an earlier response is repeated only for a repeated INVITE. A stateless server does the
 * same (RFC 3261 8.2.7). Otherwise one spoofed datagram would cause eleven responses.
 */
export class InviteServerTransaction extends Transaction<InviteServerState, ServerHooks> {
  /**
   * Latest response as Latin-1 text. It takes no more memory than its bytes, while a buffer would keep a
   * whole slab of the buffer pool.
   */
  #last: string | undefined

  constructor(clock: Clock, timers: Timers, hooks: ServerHooks) {
    super(clock, timers, hooks, 'proceeding')
  }

  /** Sends a response of the layer above. Returns false after a final response. */
  respond(status: number, bytes: Buffer): boolean {
    return this.#handle({ kind: 'respond', status, bytes })
  }

  /** Handles a retransmission of the INVITE. */
  retransmitted(): void {
    this.#handle({ kind: 'request' })
  }

  /** Handles an ACK with the INVITE's branch. */
  acknowledged(): void {
    this.#handle({ kind: 'ack' })
  }

  #handle(event: Event): boolean {
    if (this.current === 'proceeding') return this.#proceeding(event)
    if (this.current === 'completed') return this.#completed(event)
    if (this.current === 'accepted') return this.#accepted(event)
    // In state Confirmed, further ACKs are absorbed.
    return false
  }

  #proceeding(event: Event): boolean {
    if (event.kind === 'request') {
      this.#repeat()
      return true
    }
    if (event.kind === 'ack') return false
    const repeats = !this.hooks.isReliable && !(this.hooks.isSpoofable && this.#last === undefined)
    this.#last = event.bytes.toString('latin1')
    this.hooks.send(event.bytes)
    if (event.status >= 300) this.#enterCompleted(repeats)
    else if (event.status >= 200) this.#enterAccepted()
    return true
  }

  #completed(event: Event): boolean {
    if (event.kind === 'request') this.#repeat()
    if (event.kind !== 'ack') return event.kind === 'request'
    this.current = 'confirmed'
    this.#last = undefined
    this.stopTimers()
    // Timer I: absorbs further ACKs.
    if (this.hooks.isReliable) this.terminate()
    else this.limit = this.clock.after(this.timers.t4, () => this.terminate())
    return true
  }

  #accepted(event: Event): boolean {
    // RFC 6026 7.1: retransmissions are absorbed; the layer above repeats the 2xx until its ACK arrives.
    return event.kind === 'request'
  }

  #repeat(): void {
    if (this.#last !== undefined) this.hooks.send(Buffer.from(this.#last, 'latin1'))
  }

  #enterCompleted(repeats: boolean): void {
    this.current = 'completed'
    const times = this.hooks.isPeerUnverified?.() ? maxSpoofableRepeats : Number.POSITIVE_INFINITY
    if (repeats) this.#timerG(this.timers.t1, times)
    // Timer H: the ACK did not arrive.
    this.limit = this.clock.after(64 * this.timers.t1, () => this.terminate())
  }

  #timerG(interval: number, times: number): void {
    if (times === 0) return
    this.retransmit = this.clock.after(interval, () => {
      this.#repeat()
      this.#timerG(Math.min(interval * 2, this.timers.t2), times - 1)
    })
  }

  #enterAccepted(): void {
    this.current = 'accepted'
    this.#last = undefined
    // Timer L (RFC 6026 7.1).
    this.limit = this.clock.after(64 * this.timers.t1, () => this.terminate())
  }

  protected override forget(): void {
    this.#last = undefined
  }
}
