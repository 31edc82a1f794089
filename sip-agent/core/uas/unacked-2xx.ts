import type { Timer } from '../../clock.ts'
import type { Dialog } from '../../dialog/dialog.ts'
import type { Context } from '../context.ts'
import { maxUnverifiedRepeats, unverifiedWaitT1 } from './unverified-peers.ts'

/** A 2xx that was sent. */
export interface Sent2xx {
  readonly dialog: Dialog
  /** Number of the INVITE. */
  readonly seq: number
  readonly bytes: Buffer
  /** Repeats it. */
  readonly send: (bytes: Buffer) => void
  /** Transaction that the application will see on the ACK. */
  readonly txnId: string
  /** The sender has yet to prove that it is at its address; see `unconfirmedHeader`. Default false. */
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
 * The 2xx responses to INVITEs and re-INVITEs that wait for their ACK. Each is repeated until the ACK comes, on a reliable
 * transport too, as a proxy may pass it on over UDP (RFC 3261 13.3.1.4); the wait ends after 64 * T1.
 */
export class Unacked2xx {
  readonly #context: Pick<Context, 'clock' | 'timers'>
  readonly #expired: (dialog: Dialog) => void
  readonly #waiting = new Map<Dialog, UnackedDialog>()

  /** `expired` is called where an ACK never came. */
  constructor(context: Pick<Context, 'clock' | 'timers'>, expired: (dialog: Dialog) => void) {
    this.#context = context
    this.#expired = expired
  }

  /** Dialogs that wait for an ACK. */
  get size(): number {
    return this.#waiting.size
  }

  /** A 2xx was sent: repeats it until its ACK comes. */
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
    // A peer may use a number twice; then the last answer is the one that its ACK means.
    const before = waiting.bySeq.get(seq)
    if (before) this.#stop(before)
    waiting.bySeq.set(seq, answer)
    this.#repeat(answer, timers.t1, isPeerUnverified ? maxUnverifiedRepeats : Number.POSITIVE_INFINITY)
  }

  /** The ACK to `seq` came. Returns the txnId for the application, or undefined where nothing waited for it. */
  acknowledge(dialog: Dialog, seq: number): string | undefined {
    const answer = this.#waiting.get(dialog)?.bySeq.get(seq)
    if (!answer) return undefined
    this.#settle(dialog, seq)
    return answer.txnId
  }

  /**
   * Runs `run` when no ACK is awaited any more. RFC 3261 15: the callee sends no BYE before the ACK came
   * or its wait ended.
   */
  whenSettled(dialog: Dialog, run: () => void): void {
    const waiting = this.#waiting.get(dialog)
    if (waiting) waiting.after.push(run)
    else run()
  }

  /** The dialog is over: nothing is repeated any more, and what waited goes on. */
  drop(dialog: Dialog): void {
    for (const seq of [...(this.#waiting.get(dialog)?.bySeq.keys() ?? [])]) this.#settle(dialog, seq)
  }

  /** Drops everything without a word. */
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
    // Where the application's own BYE was waiting, that one ends the dialog.
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
