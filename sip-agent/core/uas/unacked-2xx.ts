import type { Timer } from '../../clock.ts'
import type { Dialog } from '../../dialog/dialog.ts'
import type { Context } from '../context.ts'
import { maxUnverifiedRepeats, unverifiedWaitT1 } from './unverified-peers.ts'

/** A 2xx response that was sent. */
export interface Sent2xx {
  readonly dialog: Dialog
  /** CSeq number of the INVITE. */
  readonly seq: number
  readonly bytes: Buffer
  /** Sends the response again. */
  readonly send: (bytes: Buffer) => void
  /** Transaction id that the application receives with the ACK. */
  readonly txnId: string
  /** Whether the sender's address is unverified; see `unverifiedHeader`. Default false. */
  readonly isPeerUnverified?: boolean
}

interface UnackedResponse extends Sent2xx {
  retransmit: Timer | undefined
  limit: Timer
}

interface UnackedDialog {
  readonly bySeq: Map<number, UnackedResponse>
  readonly after: (() => void)[]
}

/**
 * The 2xx responses to INVITEs and re-INVITEs that wait for an ACK. Each is retransmitted until the ACK
 * arrives, for at most 64 * T1. This applies to reliable transports too, as a proxy may forward the response
 * over UDP (RFC 3261 13.3.1.4).
 */
export class Unacked2xx {
  readonly #context: Pick<Context, 'clock' | 'timers'>
  readonly #expired: (dialog: Dialog) => void
  readonly #waiting = new Map<Dialog, UnackedDialog>()

  /** `expired` is called if an ACK does not arrive. */
  constructor(context: Pick<Context, 'clock' | 'timers'>, expired: (dialog: Dialog) => void) {
    this.#context = context
    this.#expired = expired
  }

  /** Number of dialogs that wait for an ACK. */
  get size(): number {
    return this.#waiting.size
  }

  /** Retransmits a 2xx until its ACK arrives. */
  add(sent: Sent2xx): void {
    const { clock, timers } = this.#context
    const { dialog, seq, isPeerUnverified = false } = sent
    const wait = (isPeerUnverified ? unverifiedWaitT1 : 64) * timers.t1
    const limit = clock.after(wait, () => this.#expire(dialog, seq))
    const answer: UnackedResponse = { ...sent, retransmit: undefined, limit }
    let waiting = this.#waiting.get(dialog)
    if (!waiting) {
      waiting = { bySeq: new Map(), after: [] }
      this.#waiting.set(dialog, waiting)
    }
    // If a peer uses a CSeq number twice, its ACK acknowledges the latest response.
    const before = waiting.bySeq.get(seq)
    if (before) this.#stop(before)
    waiting.bySeq.set(seq, answer)
    this.#repeat(answer, timers.t1, isPeerUnverified ? maxUnverifiedRepeats : Number.POSITIVE_INFINITY)
  }

  /**
   * Handles the ACK of an INVITE. Returns the transaction id for the application, or undefined if no response
   * was waiting for this ACK.
   */
  acknowledge(dialog: Dialog, seq: number): string | undefined {
    const answer = this.#waiting.get(dialog)?.bySeq.get(seq)
    if (!answer) return undefined
    this.#settle(dialog, seq)
    return answer.txnId
  }

  /**
   * Calls `run` when no ACK is awaited any more. The callee must not send a BYE before the ACK or its timeout
   * (RFC 3261 15).
   */
  whenSettled(dialog: Dialog, run: () => void): void {
    const waiting = this.#waiting.get(dialog)
    if (waiting) waiting.after.push(run)
    else run()
  }

  /** Stops all retransmissions of an ended dialog, and runs the functions that waited. */
  drop(dialog: Dialog): void {
    for (const seq of [...(this.#waiting.get(dialog)?.bySeq.keys() ?? [])]) this.#settle(dialog, seq)
  }

  /** Drops all responses. */
  close(): void {
    for (const { bySeq } of this.#waiting.values()) for (const answer of bySeq.values()) this.#stop(answer)
    this.#waiting.clear()
  }

  #repeat(answer: UnackedResponse, interval: number, times: number): void {
    if (times === 0) return
    answer.retransmit = this.#context.clock.after(interval, () => {
      answer.send(answer.bytes)
      this.#repeat(answer, Math.min(interval * 2, this.#context.timers.t2), times - 1)
    })
  }

  #expire(dialog: Dialog, seq: number): void {
    const held = (this.#waiting.get(dialog)?.after.length ?? 0) > 0
    this.#settle(dialog, seq)
    // If a BYE of the application was waiting for the ACK, that BYE ends the dialog.
    if (!held) this.#expired(dialog)
  }

  #settle(dialog: Dialog, seq: number): void {
    const waiting = this.#waiting.get(dialog)
    const answer = waiting?.bySeq.get(seq)
    if (!waiting || !answer) return
    this.#stop(answer)
    waiting.bySeq.delete(seq)
    if (waiting.bySeq.size > 0) return
    this.#waiting.delete(dialog)
    for (const run of waiting.after) run()
  }

  #stop(answer: UnackedResponse): void {
    answer.retransmit?.cancel()
    answer.limit.cancel()
  }
}
