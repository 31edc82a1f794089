import { randomInt } from 'node:crypto'
import type { Timer } from '../../clock.ts'
import type { SipRequest } from '../../message/message.ts'
import type { Context } from '../context.ts'
import { maxUnverifiedRepeats, unverifiedWaitT1 } from './unverified-peers.ts'

type ReliableDeps = Pick<Context, 'clock' | 'timers'>

/** Response of an application that must wait for a PRACK. */
export interface HeldResponse {
  /** Sends the response. */
  send(): void
  /** Rejects the application's frame; the response is not sent. */
  drop(): void
}

/** Maximum number of held responses of one INVITE. Further responses are rejected. */
const maxHeld = 16

/** Value of a RAck header (RFC 3262 7.2). */
export interface Rack {
  readonly rseq: number
  readonly seq: number
  readonly method: string
}

/** Returns the RAck of a PRACK; undefined if it is missing or malformed. */
export const rackOf = (prack: SipRequest): Rack | undefined => {
  const match = /^\s*([0-9]{1,10})\s+([0-9]{1,10})\s+(\S+)\s*$/.exec(prack.headers.first('rack') ?? '')
  return match ? { rseq: Number(match[1]), seq: Number(match[2]), method: match[3] as string } : undefined
}

/**
 * Reliable provisional responses to one INVITE (RFC 3262 3). Only one response at a time waits for its PRACK,
 * and is retransmitted until the PRACK arrives. Further responses of the application, including a 2xx, are
 * held in order, so that none overtakes an earlier offer.
 */
export class ReliableResponses {
  readonly #parts: ReliableDeps
  readonly #expired: () => void
  #rseq = randomInt(1, 2 ** 30)
  #open: { repeat: Timer; readonly limit: Timer } | undefined
  #held: HeldResponse[] = []

  /** `expired` is called if the PRACK does not arrive within 64 * T1. */
  constructor(parts: ReliableDeps, expired: () => void) {
    this.#parts = parts
    this.#expired = expired
  }

  /** RSeq of the latest response. */
  get rseq(): number {
    return this.#rseq
  }

  /** Whether a PRACK is awaited. */
  get isAwaitingPrack(): boolean {
    return this.#open !== undefined
  }

  /** Whether responses are held, so that a further response must wait for its turn. */
  get hasHeld(): boolean {
    return this.#held.length > 0
  }

  /** Returns the RSeq of the next response. */
  next(): number {
    this.#rseq++
    return this.#rseq
  }

  /**
   * Starts the retransmission of the latest response. `send` repeats it on any transport, at intervals that
   * double from T1. `isPeerUnverified`: see `unverifiedHeader`.
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

  /** Holds a response until the PRACK arrives. Returns false if too many are held. */
  hold(held: HeldResponse): boolean {
    if (this.#held.length >= maxHeld) return false
    this.#held.push(held)
    return true
  }

  /**
   * Handles the PRACK with the RSeq `rseq`. Returns false if no PRACK with this number is awaited. A call of
   * {@link release} must follow.
   */
  acknowledge(rseq: number): boolean {
    if (!this.#open || rseq !== this.#rseq) return false
    this.#stopTimers()
    return true
  }

  /** Sends the held responses, up to and including the next reliable response. */
  release(): void {
    while (!this.#open) {
      const next = this.#held.shift()
      if (!next) return
      next.send()
    }
  }

  /** Ends retransmission at the final response or the end of the INVITE, and drops the held responses. */
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
 * Reliable provisional responses whose INVITE was rejected before their PRACK arrived. Such a PRACK must
 * still be answered (RFC 3262 3), although the dialog is gone.
 */
export class LatePracks {
  readonly #parts: ReliableDeps
  readonly #awaited = new Map<string, Timer>()

  constructor(parts: ReliableDeps) {
    this.#parts = parts
  }

  /** Number of PRACKs that may still arrive. */
  get size(): number {
    return this.#awaited.size
  }

  /**
   * Awaits, for 64 * T1, the PRACK for a response to `invite`. The response had the To tag `tag`, and `rseq`.
   */
  add(invite: SipRequest, tag: string, rseq: number): void {
    const key = `${invite.callId}|${tag}|${invite.fromTag}|${rseq} ${invite.seq}`
    const { clock, timers } = this.#parts
    this.#awaited.get(key)?.cancel()
    this.#awaited.set(
      key,
      clock.after(64 * timers.t1, () => this.#awaited.delete(key)),
    )
  }

  /** Returns whether a PRACK is awaited. Returns true only once for each awaited PRACK. */
  take(prack: SipRequest): boolean {
    const rack = rackOf(prack)
    const key = `${prack.callId}|${prack.toTag}|${prack.fromTag}|${rack?.rseq} ${rack?.seq}`
    this.#awaited.get(key)?.cancel()
    return this.#awaited.delete(key)
  }

  /** Cancels all timers. */
  close(): void {
    for (const timer of this.#awaited.values()) timer.cancel()
    this.#awaited.clear()
  }
}
