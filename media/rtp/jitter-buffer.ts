import type { AudioCodec } from '../types.ts'
import { DelayEstimate, evenManner } from './delay-estimate.ts'
import { type Content, maxPayload, PacketRing, type PacketSlot, ringPackets } from './packet-ring.ts'
import { type Placed, Timeline, ticksPerMs } from './timeline.ts'

/** Next output of a jitter buffer. */
export type Next =
  /** No packet has arrived: it is late or lost, or the far side is silent. */
  | 'wait'
  /** The far side was silent, and its next packet is not due yet. */
  | 'gap'
  /** Packets were lost: {@link JitterBuffer.missing} ticks, before {@link JitterBuffer.head}. */
  | 'lost'
  /** {@link JitterBuffer.head} must be decoded. */
  | 'audio'
  /** {@link JitterBuffer.head} is comfort noise. */
  | 'noise'

/** Maximum difference between a timestamp and its expected value that is ignored. */
const toleranceTicks = ticksPerMs
/** Time beyond the maximum delay after which a packet is skipped if newer ones are waiting. */
const backlogMs = 40

/** Packet to keep. */
export interface Incoming extends Placed {
  readonly content: Content
  readonly codec: AudioCodec
  /** Clock rate of the timestamp; undefined for an event, whose timestamp is not its sending time. */
  readonly clockRate: number | undefined
}

/**
 * Orders a stream's packets and releases them at an even pace, with a delay that nearly all packets meet
 * ({@link DelayEstimate}). Sans-IO: `now` is in ms and never decreases. Media time is counted in ticks of 48
 * kHz.
 *
 * {@link next} returns what is due. The caller reports back with {@link advance} for audio decoded or
 * concealed, and with {@link hold} for audio concealed without a known reason.
 */
export class JitterBuffer {
  /** Packet for `audio`, `noise` and `lost`; valid until the next call of any method. */
  head: PacketSlot | undefined
  /** Number of ticks to conceal after `lost`. */
  missing = 0
  /** After `lost`: whether a single packet is missing, directly before {@link head}. */
  isSingleLoss = false
  /** Number of packets that were missing at their time. */
  lost = 0
  /** Number of packets that arrived too late to be played. */
  late = 0
  /** Number of packets that arrived twice. */
  duplicate = 0
  /** Concealed audio for lost and late packets, in ticks. */
  concealed = 0
  #estimate: DelayEstimate
  #maxMs: number
  #line = new Timeline()
  #ring = new PacketRing()
  /** Index of the next packet; undefined before the first. */
  #next: number | undefined
  /** Whether a packet was released. */
  #hasReleased = false
  /** Media time up to which audio was released; undefined if the next packet restarts it. */
  #playhead: number | undefined
  /** Audio concealed since {@link #playhead} without a known reason. */
  #held = 0
  /** Whether a loss was concealed; its packets are now too late. */
  #hasConcealed = false
  #isCatchingUp = false

  /** Bounds of the delay, in ms. */
  constructor(minMs = 20, maxMs = 200, manner = evenManner) {
    this.#estimate = new DelayEstimate(minMs, maxMs, manner)
    this.#maxMs = maxMs
  }

  /** Current target delay, in ms. */
  get targetMs(): number {
    return this.#estimate.target
  }

  /** Adds a packet; copies the payload from `start` to `end`. */
  insert(now: number, incoming: Incoming, packet: Uint8Array, start: number, end: number): void {
    const line = this.#line
    const due = (now - this.#estimate.base) * ticksPerMs
    if (end - start > maxPayload || !line.place(now, incoming, incoming.clockRate, due)) return
    const { index, ticks } = line
    if (this.#ring.knows(index)) {
      this.duplicate++
      return
    }
    if (incoming.content === 'audio') this.#estimate.arrived(now, now - ticks / ticksPerMs)
    if (!this.#makeRoom(index)) {
      this.#ring.note(index)
      if (incoming.content === 'audio') this.late++
      return
    }
    const slot = this.#ring.put(index, packet, start, end)
    slot.content = incoming.content
    slot.codec = incoming.codec
    slot.ticks = ticks
    slot.arrivedAt = now
  }

  /** Returns what is due at `now`. */
  next(now: number): Next {
    for (;;) {
      const head = this.#first()
      this.head = head
      if (!head) return 'wait'
      if (head.content === 'event') this.#take(head)
      else {
        const found = this.#judge(now, head)
        if (found) return found
      }
    }
  }

  /** Reports `ticks` of audio as decoded, or as concealed for a loss (`made`). */
  advance(ticks: number, made: boolean): void {
    if (this.#playhead !== undefined) this.#playhead += ticks
    if (!made) return
    this.concealed += ticks
    this.#hasConcealed = true
  }

  /** Reports `ticks` of audio as concealed while no packet was there. */
  hold(ticks: number): void {
    this.#held = Math.min(this.#held + ticks, this.#maxMs * ticksPerMs)
  }

  /** Returns the time at which a typical packet with this media time arrives, in ms. */
  arrivalOf(ticks: number): number {
    return this.#estimate.typical + ticks / ticksPerMs
  }

  /** Expected time from the arrival of a typical packet after a silence to its release, in ms. */
  get restMs(): number {
    const { base, target, typical } = this.#estimate
    return base + target - typical
  }

  /** Returns the excess over the target delay at `now`, in ms; negative if below. */
  excessMs(now: number): number {
    if (this.#playhead === undefined) return 0
    const { base, target } = this.#estimate
    return now - base - this.#playhead / ticksPerMs - target
  }

  /**
   * Makes room for a packet with that index, by discarding packets that are much older. Returns false if the
   * packet itself is too old.
   */
  #makeRoom(index: number): boolean {
    // Before the first release, an earlier packet may still become the first.
    if (this.#next === undefined || (!this.#hasReleased && this.#next - index < ringPackets))
      this.#next = Math.min(index, this.#next ?? index)
    if (index < this.#next) return false
    for (; this.#next <= index - ringPackets; this.#next++) {
      const slot = this.#ring.at(this.#next)
      if (slot.isWaiting && slot.index === this.#next) slot.isWaiting = false
      this.lost++
    }
    return true
  }

  #first(): PacketSlot | undefined {
    if (this.#next === undefined) return undefined
    for (let index = this.#next; index <= this.#line.newestIndex; index++) {
      const slot = this.#ring.at(index)
      if (slot.isWaiting && slot.index === index) return slot
    }
    return undefined
  }

  /** Classifies a packet; undefined if it was skipped. */
  #judge(now: number, head: PacketSlot): Next | undefined {
    const delay = now - this.#estimate.base - head.ticks / ticksPerMs
    if (this.#isBacklog(delay, head)) {
      this.late++
      this.#take(head)
      this.#playhead = undefined
      return undefined
    }
    const missing = head.index - this.#next!
    const gap = this.#playhead === undefined ? Number.POSITIVE_INFINITY : head.ticks - this.#playhead
    if (this.#hasConcealed && gap < -this.#line.step / 2) {
      this.late++
      this.#take(head)
      return undefined
    }
    // A loss next to a silence is not concealed, because its position is unknown.
    const loss = missing > 0 && gap <= (missing + 1) * this.#line.step
    if (loss && this.#isOpen(gap, missing)) return 'lost'
    if (!loss && gap > toleranceTicks && !this.#isDue(delay, head)) return 'gap'
    return this.#give(head, loss || gap <= toleranceTicks)
  }

  /**
   * Whether part of the loss still needs concealment; audio that was concealed before the loss was detected
   * counts.
   */
  #isOpen(gap: number, missing: number): boolean {
    const covered = Math.max(0, Math.min(this.#held, gap))
    this.#held -= covered
    this.#playhead! += covered
    this.concealed += covered
    this.missing = gap - covered
    this.isSingleLoss = missing === 1
    return this.missing > toleranceTicks
  }

  #isDue(delay: number, head: PacketSlot): boolean {
    return delay >= this.#estimate.target || this.#behind(head) > this.#maxMs
  }

  /** Returns the time from that packet to the end of the newest, in ms. */
  #behind(head: PacketSlot): number {
    return (this.#line.newestTicks + this.#line.step - head.ticks) / ticksPerMs
  }

  /**
   * Whether the packet must be skipped. After an outage, many packets arrive at once; they are skipped until
   * the delay is back at its target.
   */
  #isBacklog(delay: number, head: PacketSlot): boolean {
    if (delay > this.#maxMs + backlogMs) this.#isCatchingUp = true
    else if (delay <= this.#estimate.target + backlogMs / 2) this.#isCatchingUp = false
    return this.#isCatchingUp && this.#behind(head) > this.#estimate.target + this.#line.step / ticksPerMs
  }

  #give(head: PacketSlot, heardOn: boolean): Next {
    // The packet was late, and the far side was not silent: the audio that was concealed meanwhile counts.
    if (heardOn) this.concealed += this.#held
    this.#take(head)
    this.#playhead = head.ticks
    this.#held = 0
    this.#hasConcealed = false
    return head.content === 'noise' ? 'noise' : 'audio'
  }

  #take(head: PacketSlot): void {
    this.#hasReleased = true
    this.lost += head.index - this.#next!
    this.#next = head.index + 1
    head.isWaiting = false
  }
}
