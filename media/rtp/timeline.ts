import { sequenceAhead, timestampAhead } from './packet.ts'

/** Ticks of media time in one millisecond: 48 kHz, of which every codec's clock is a whole part. */
export const TICKS_PER_MS = 48

/** Furthest step forward that is loss, and furthest back that is lateness; beyond, the sender has begun anew (RFC 3550 A.1). */
const MAX_DROPOUT = 1000
const MAX_MISORDER = 100
/** Timestamps that are so far off the time that went by have jumped, in ms. */
const JUMP_MS = 1000
/** Stragglers of a source that another has replaced come within this time. */
const FORMER_MS = 1000
const DEFAULT_STEP = 20 * TICKS_PER_MS
const MAX_STEP = 200 * TICKS_PER_MS

/** A packet's place in its own stream. */
export interface Placed {
  readonly ssrc: number
  readonly sequence: number
  readonly timestamp: number
}

/**
 * Lays the packets of all that a far side sends on one line, in order and in time: sequence numbers and timestamps without wrap, over
 * changes of the source and of the clock rate, and over jumps, behind which the new stream goes on where the old one ended.
 */
export class Timeline {
  /** Of the packet placed last: its number in the line, and its media time in ticks. */
  index = 0
  ticks = 0
  /** From one packet to the next, in ticks. */
  step = DEFAULT_STEP
  /** Of the newest packet. */
  newestIndex = -1
  newestTicks = 0
  #started = false
  #ssrc = 0
  #formerSsrc: number | undefined
  #changedAt = 0
  #sequence = 0
  #timestamp = 0
  #scale = 1
  /** The sequence number that proves a new beginning. */
  #proof = -1

  /**
   * Places a packet, for {@link index} and {@link ticks}; false for one that has no place. `clockRate` is of its timestamp; undefined: its
   * timestamp is not that of its sending (events), and only its sequence number counts. `due` are the ticks that it would have if it had
   * travelled as fast as the fastest.
   */
  place(now: number, packet: Placed, clockRate: number | undefined, due: number): boolean {
    const { ssrc, sequence } = packet
    if (!this.#started) return this.#begin(packet, clockRate)
    if (ssrc !== this.#ssrc) {
      // Some gateways send events as a source of their own beside the audio: they hold no number of it.
      if (clockRate === undefined) return false
      if (ssrc === this.#formerSsrc && now - this.#changedAt < FORMER_MS) return false
      this.#formerSsrc = this.#ssrc
      this.#changedAt = now
      this.#ssrc = ssrc
      return this.#goOn(packet, clockRate, due)
    }
    const ahead = sequenceAhead(sequence, this.#sequence)
    if (ahead <= MAX_DROPOUT && ahead >= -MAX_MISORDER) {
      this.#proof = -1
      return this.#put(packet, ahead, clockRate, due)
    }
    if (sequence === this.#proof) return this.#goOn(packet, clockRate, due)
    this.#proof = (sequence + 1) & 0xffff
    return false
  }

  #begin(packet: Placed, clockRate: number | undefined): boolean {
    // An event may come first, but gives no time to begin with.
    if (clockRate === undefined) return false
    this.#started = true
    this.#ssrc = packet.ssrc
    this.#reach(packet.sequence, 0)
    return this.#tie(packet.timestamp, clockRate, 0)
  }

  /** Another stream, which follows the one before without a gap in its numbers. */
  #goOn(packet: Placed, clockRate: number | undefined, due: number): boolean {
    this.#proof = -1
    this.#reach(packet.sequence, this.newestIndex + 1)
    this.ticks = Math.max(due, this.newestTicks + this.step)
    // Of an event's timestamp nothing is known but that the next audio is not before it.
    return this.#tie(packet.timestamp, clockRate ?? 8000, this.ticks)
  }

  #put(packet: Placed, ahead: number, clockRate: number | undefined, due: number): boolean {
    const index = this.newestIndex + ahead
    if (clockRate === undefined) {
      this.ticks = this.newestTicks
      if (ahead > 0) this.#reach(packet.sequence, index)
      this.index = index
      return true
    }
    const sameClock = (TICKS_PER_MS * 1000) / clockRate === this.#scale
    let ticks = this.newestTicks + timestampAhead(packet.timestamp, this.#timestamp) * this.#scale
    if (ahead > 0) {
      const jumped = Math.abs(due - ticks) > JUMP_MS * TICKS_PER_MS || ticks <= this.newestTicks
      if (!sameClock || jumped) ticks = Math.max(due, this.newestTicks + this.step * ahead)
      else if (ahead === 1 && ticks - this.newestTicks <= MAX_STEP) this.step = ticks - this.newestTicks
      this.#reach(packet.sequence, index)
      return this.#tie(packet.timestamp, clockRate, ticks)
    }
    this.index = index
    const behind = this.newestTicks - ticks
    const odd = behind < 0 || behind > JUMP_MS * TICKS_PER_MS
    this.ticks = odd ? this.newestTicks + this.step * ahead : ticks
    return true
  }

  #reach(sequence: number, index: number): void {
    this.#sequence = sequence
    this.newestIndex = index
    this.index = index
  }

  /** From now on `timestamp` is `ticks`. */
  #tie(timestamp: number, clockRate: number, ticks: number): boolean {
    this.#timestamp = timestamp
    this.#scale = (TICKS_PER_MS * 1000) / clockRate
    this.newestTicks = ticks
    this.ticks = ticks
    return true
  }
}
