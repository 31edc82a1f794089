import { randomInt } from 'node:crypto'
import type { Timer } from '../../clock.ts'
import type { SipRequest } from '../../message/message.ts'
import type { Context } from '../context.ts'
import { maxUnverifiedRepeats, unverifiedWaitT1 } from './unverified-peers.ts'

type ReliableDeps = Pick<Context, 'clock' | 'timers'>

/** An answer of the application that may not go out before a PRACK has come. */
export interface HeldResponse {
  /** Sends it. */
  send(): void
  /** It will never be sent: tells the application. */
  drop(): void
}

/** Answers that one INVITE may hold back; an application that waits for no PRACK is told so. */
const maxHeld = 16

/** The value of a RAck header (RFC 3262 7.2). */
export interface Rack {
  readonly rseq: number
  readonly seq: number
  readonly method: string
}

/** The RAck of a PRACK; undefined where it is missing or broken. */
export const rackOf = (prack: SipRequest): Rack | undefined => {
  const match = /^\s*([0-9]{1,10})\s+([0-9]{1,10})\s+(\S+)\s*$/.exec(prack.headers.first('rack') ?? '')
  return match ? { rseq: Number(match[1]), seq: Number(match[2]), method: match[3] as string } : undefined
}

/**
 * The reliable provisional responses to one INVITE (RFC 3262 3): one at a time, each repeated until its PRACK comes. What the
 * application answers in the meantime is held back in its order, a 2xx too, so that no answer overtakes the offer before it.
 */
export class ReliableResponses {
  readonly #parts: ReliableDeps
  readonly #expired: () => void
  #rseq = randomInt(1, 2 ** 30)
  #open: { repeat: Timer; readonly limit: Timer } | undefined
  #held: HeldResponse[] = []

  /** `expired` is called where the PRACK has not come within 64 * T1. */
  constructor(parts: ReliableDeps, expired: () => void) {
    this.#parts = parts
    this.#expired = expired
  }

  /** The number of the last response; once it is open, that of its RSeq. */
  get rseq(): number {
    return this.#rseq
  }

  /** True while a PRACK is awaited. */
  get isAwaitingPrack(): boolean {
    return this.#open !== undefined
  }

  /** True where an answer must wait, to keep its place behind others. */
  get hasHeld(): boolean {
    return this.#held.length > 0
  }

  /** The RSeq of the next response. */
  next(): number {
    this.#rseq++
    return this.#rseq
  }

  /**
   * The response with the last number went out: `send` repeats it, on any transport, at intervals that double from T1. `isUnconfirmed`:
   * its receiver has yet to prove that it is at its address; see `unconfirmedHeader`.
   */
  sent(send: () => void, isUnconfirmed = false): void {
    const { clock, timers } = this.#parts
    let repeats = isUnconfirmed ? maxUnverifiedRepeats : Number.POSITIVE_INFINITY
    const limit = clock.after((isUnconfirmed ? unverifiedWaitT1 : 64) * timers.t1, () => {
      this.#stopTimers()
      this.#expired()
    })
    const open = { repeat: clock.after(timers.t1, () => again(timers.t1 * 2)), limit }
    const again = (interval: number) => {
      send()
      repeats--
      if (repeats > 0) open.repeat = clock.after(interval, () => again(interval * 2))
    }
    this.#open = open
  }

  /** Keeps an answer until the PRACK is there; false where too many wait already. */
  hold(held: HeldResponse): boolean {
    if (this.#held.length >= maxHeld) return false
    this.#held.push(held)
    return true
  }

  /** A PRACK names this number; false where it is not the one that is awaited. {@link release} follows. */
  acknowledge(rseq: number): boolean {
    if (!this.#open || rseq !== this.#rseq) return false
    this.#stopTimers()
    return true
  }

  /** Sends what was held back, up to the next reliable response. */
  release(): void {
    while (!this.#open) {
      const next = this.#held.shift()
      if (!next) return
      next.send()
    }
  }

  /** A final response goes out, or the INVITE is over: nothing is repeated any more, and what was held back is dropped. */
  stop(): void {
    this.#stopTimers()
    for (const held of this.#held.splice(0)) held.drop()
  }

  #stopTimers(): void {
    this.#open?.repeat.cancel()
    this.#open?.limit.cancel()
    this.#open = undefined
  }
}

/**
 * Reliable provisionals whose INVITE was refused before their PRACK came. The PRACK may be under way, and has to be answered all the
 * same (RFC 3262 3), though the dialog is gone.
 */
export class LatePracks {
  readonly #parts: ReliableDeps
  readonly #awaited = new Map<string, Timer>()

  constructor(parts: ReliableDeps) {
    this.#parts = parts
  }

  /** PRACKs that may still come. */
  get size(): number {
    return this.#awaited.size
  }

  /** Awaits, for 64 * T1, the PRACK of a response with this number to `invite`, which had our `tag`. */
  add(invite: SipRequest, tag: string, rseq: number): void {
    const key = `${invite.callId}|${tag}|${invite.fromTag}|${rseq} ${invite.seq}`
    const { clock, timers } = this.#parts
    this.#awaited.get(key)?.cancel()
    this.#awaited.set(
      key,
      clock.after(64 * timers.t1, () => this.#awaited.delete(key)),
    )
  }

  /** True, once, for a PRACK that was awaited. */
  take(prack: SipRequest): boolean {
    const rack = rackOf(prack)
    const key = `${prack.callId}|${prack.toTag}|${prack.fromTag}|${rack?.rseq} ${rack?.seq}`
    this.#awaited.get(key)?.cancel()
    return this.#awaited.delete(key)
  }

  /** Forgets everything. */
  close(): void {
    for (const timer of this.#awaited.values()) timer.cancel()
    this.#awaited.clear()
  }
}
