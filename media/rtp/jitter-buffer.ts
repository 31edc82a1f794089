import type { AudioCodec } from '../types.ts'
import { DelayEstimate } from './delay-estimate.ts'
import { type Content, MAX_PAYLOAD, PacketRing, RING_PACKETS, type Slot } from './packet-ring.ts'
import { type Placed, TICKS_PER_MS, Timeline } from './timeline.ts'

/** What comes next out of a jitter buffer. */
export type Next =
  /** Nothing is there: late, lost, or the far side is silent, which is not known yet. */
  | 'wait'
  /** The far side was silent, and what it sent after that is not due yet. */
  | 'gap'
  /** Packets were lost: {@link JitterBuffer.missing} ticks, before {@link JitterBuffer.head}. */
  | 'lost'
  /** {@link JitterBuffer.head} is to be decoded. */
  | 'audio'
  /** {@link JitterBuffer.head} is comfort noise. */
  | 'noise'

/** Timestamps that are less than this apart from where they should be belong there. */
const TOLERANCE = TICKS_PER_MS
/** What is later than the longest delay by this is left out, if newer is there. */
const BACKLOG_MS = 40

/** A packet to keep. */
export interface Incoming extends Placed {
  readonly content: Content
  readonly codec: AudioCodec
  /** Of the timestamp; undefined for an event's, which is not that of its sending. */
  readonly clockRate: number | undefined
}

/**
 * Puts a stream's packets in order and gives them out at an even pace, each some time after it came: as long as nearly all packets need
 * ({@link DelayEstimate}). Sans-IO: `now` is in ms and never goes back. Media time is counted in ticks of 48 kHz.
 *
 * {@link next} tells what comes now; who asks tells in turn what it made of it: {@link advance} of sound that was decoded or made up for
 * a loss, {@link hold} of what it made up without knowing why nothing came.
 */
export class JitterBuffer {
  /** After `audio`, `noise` and `lost`: the packet, until the next call of anything. */
  head: Slot | undefined
  /** After `lost`: ticks to be made up. */
  missing = 0
  /** After `lost`: whether one packet alone is missing, right before {@link head}. */
  adjacent = false
  /** Packets that were not there at their time, that came after it, and that came twice. */
  lost = 0
  late = 0
  duplicate = 0
  /** Sound that was made up for lost and late packets, in ticks. */
  concealed = 0
  #estimate: DelayEstimate
  #maxMs: number
  #line = new Timeline()
  #ring = new PacketRing()
  /** Number of the next packet; undefined before the first. */
  #next: number | undefined
  /** Whether any was given out. */
  #begun = false
  /** Media time up to which everything was given out; undefined where the next packet begins anew. */
  #playhead: number | undefined
  /** What was made up since then, without knowing why. */
  #held = 0
  /** Sound was made up for a loss, and what comes for it is too late. */
  #bridged = false
  #catchingUp = false

  /** Bounds of the delay in ms. */
  constructor(minMs = 20, maxMs = 200) {
    this.#estimate = new DelayEstimate(minMs, maxMs)
    this.#maxMs = maxMs
  }

  /** The delay that is aimed at, in ms. */
  get targetMs(): number {
    return this.#estimate.target
  }

  /** Takes a packet, of which it copies the payload from `start` to `end`. */
  insert(now: number, incoming: Incoming, packet: Uint8Array, start: number, end: number): void {
    const line = this.#line
    const due = (now - this.#estimate.base) * TICKS_PER_MS
    if (end - start > MAX_PAYLOAD || !line.place(now, incoming, incoming.clockRate, due)) return
    const { index, ticks } = line
    if (this.#ring.knows(index)) {
      this.duplicate++
      return
    }
    if (incoming.content === 'audio') this.#estimate.arrived(now, now - ticks / TICKS_PER_MS)
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

  /** What comes at `now`, which is when it is wanted. */
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

  /** `ticks` of sound were decoded, or made up for what was lost. */
  advance(ticks: number, made: boolean): void {
    if (this.#playhead !== undefined) this.#playhead += ticks
    if (!made) return
    this.concealed += ticks
    this.#bridged = true
  }

  /** `ticks` of sound were made up while there was nothing. */
  hold(ticks: number): void {
    this.#held = Math.min(this.#held + ticks, this.#maxMs * TICKS_PER_MS)
  }

  /** By how much what is wanted at `now` is later than aimed at, in ms; negative: earlier. */
  excessMs(now: number): number {
    if (this.#playhead === undefined) return 0
    const { base, target } = this.#estimate
    return now - base - this.#playhead / TICKS_PER_MS - target
  }

  /** Whether a packet with that number can be kept; what is too old for it is given up. */
  #makeRoom(index: number): boolean {
    // Before anything was given out, an earlier one may still become the first.
    if (this.#next === undefined || (!this.#begun && this.#next - index < RING_PACKETS))
      this.#next = Math.min(index, this.#next ?? index)
    if (index < this.#next) return false
    for (; this.#next <= index - RING_PACKETS; this.#next++) {
      const slot = this.#ring.at(this.#next)
      if (slot.waiting && slot.index === this.#next) slot.waiting = false
      this.lost++
    }
    return true
  }

  #first(): Slot | undefined {
    if (this.#next === undefined) return undefined
    for (let index = this.#next; index <= this.#line.newestIndex; index++) {
      const slot = this.#ring.at(index)
      if (slot.waiting && slot.index === index) return slot
    }
    return undefined
  }

  /** What that packet means; undefined: it was left out. */
  #judge(now: number, head: Slot): Next | undefined {
    const delay = now - this.#estimate.base - head.ticks / TICKS_PER_MS
    if (this.#isBacklog(delay, head)) {
      this.late++
      this.#take(head)
      this.#playhead = undefined
      return undefined
    }
    const missing = head.index - this.#next!
    const gap = this.#playhead === undefined ? Number.POSITIVE_INFINITY : head.ticks - this.#playhead
    if (this.#bridged && gap < -this.#line.step / 2) {
      this.late++
      this.#take(head)
      return undefined
    }
    // A loss beside a silence is not made up for: it is not known on which side of it.
    const loss = missing > 0 && gap <= (missing + 1) * this.#line.step
    if (loss && this.#isOpen(gap, missing)) return 'lost'
    if (!loss && gap > TOLERANCE && !this.#isDue(delay, head)) return 'gap'
    return this.#give(head, loss || gap <= TOLERANCE)
  }

  /** Whether some of what was lost still has to be made up; what was made up before the loss was known counts. */
  #isOpen(gap: number, missing: number): boolean {
    const covered = Math.max(0, Math.min(this.#held, gap))
    this.#held -= covered
    this.#playhead! += covered
    this.concealed += covered
    this.missing = gap - covered
    this.adjacent = missing === 1
    return this.missing > TOLERANCE
  }

  #isDue(delay: number, head: Slot): boolean {
    return delay >= this.#estimate.target || this.#behind(head) > this.#maxMs
  }

  /** Milliseconds from that packet to the end of the newest. */
  #behind(head: Slot): number {
    return (this.#line.newestTicks + this.#line.step - head.ticks) / TICKS_PER_MS
  }

  /** After a standstill, of ours or of the network, all comes at once; what would be too late is left out until the delay is right. */
  #isBacklog(delay: number, head: Slot): boolean {
    if (delay > this.#maxMs + BACKLOG_MS) this.#catchingUp = true
    else if (delay <= this.#estimate.target + BACKLOG_MS / 2) this.#catchingUp = false
    return this.#catchingUp && this.#behind(head) > this.#estimate.target + this.#line.step / TICKS_PER_MS
  }

  #give(head: Slot, heardOn: boolean): Next {
    // Late rather than silent: what was made up for it was heard in its place.
    if (heardOn) this.concealed += this.#held
    this.#take(head)
    this.#playhead = head.ticks
    this.#held = 0
    this.#bridged = false
    return head.content === 'noise' ? 'noise' : 'audio'
  }

  #take(head: Slot): void {
    this.#begun = true
    this.lost += head.index - this.#next!
    this.#next = head.index + 1
    head.waiting = false
  }
}
