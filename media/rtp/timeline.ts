import { sequenceAhead, timestampAhead } from './packet.ts'

/** Ticks of media time in one millisecond: 48 kHz, a multiple of every codec's clock. */
export const ticksPerMs = 48

/**
 * Maximum step forward that counts as loss, and back that counts as late; beyond, the sender has restarted
 * (RFC 3550 A.1).
 */
const maxDropout = 1000
const maxMisorder = 100
/** Deviation from the elapsed time that counts as a jump of the timestamps, in ms. */
const jumpMs = 1000
/** Time in which late packets of a replaced source may arrive. */
const formerMs = 1000
const defaultStep = 20 * ticksPerMs
const maxStep = 200 * ticksPerMs

/** A packet's place in its own stream. */
export interface Placed {
  readonly ssrc: number
  readonly sequence: number
  readonly timestamp: number
}

/**
 * Places all packets of a far side on one timeline, with sequence numbers and timestamps that do not wrap.
 * Continues over changes of source and clock rate, and over jumps, after which the new stream follows the old
 * one.
 */
export class Timeline {
  /** Index and media time in ticks of the last placed packet. */
  index = 0
  ticks = 0
  /** Interval between packets, in ticks. */
  step = defaultStep
  /** Index and media time of the newest packet. */
  newestIndex = -1
  newestTicks = 0
  #hasStarted = false
  #ssrc = 0
  #formerSsrc: number | undefined
  #changedAt = 0
  #sequence = 0
  #timestamp = 0
  #scale = 1
  /** Sequence number that would confirm a restart. */
  #proof = -1

  /**
   * Places a packet and sets {@link index} and {@link ticks}; returns false if it has no place. `clockRate`
   * of its timestamp; undefined if the timestamp is not the sending time (events), in which case only the
   * sequence number counts. `due` is the media time that a packet with the fastest transit would have.
   */
  place(now: number, packet: Placed, clockRate: number | undefined, due: number): boolean {
    const { ssrc, sequence } = packet
    if (!this.#hasStarted) return this.#begin(packet, clockRate)
    if (ssrc !== this.#ssrc) {
      // Some gateways send events as a separate source beside the audio: such packets get no place.
      if (clockRate === undefined) return false
      if (ssrc === this.#formerSsrc && now - this.#changedAt < formerMs) return false
      this.#formerSsrc = this.#ssrc
      this.#changedAt = now
      this.#ssrc = ssrc
      return this.#goOn(packet, clockRate, due)
    }
    const ahead = sequenceAhead(sequence, this.#sequence)
    if (ahead <= maxDropout && ahead >= -maxMisorder) {
      this.#proof = -1
      return this.#put(packet, ahead, clockRate, due)
    }
    if (sequence === this.#proof) return this.#goOn(packet, clockRate, due)
    this.#proof = (sequence + 1) & 0xffff
    return false
  }

  #begin(packet: Placed, clockRate: number | undefined): boolean {
    // An event that arrives first does not establish the media time.
    if (clockRate === undefined) return false
    this.#hasStarted = true
    this.#ssrc = packet.ssrc
    this.#reach(packet.sequence, 0)
    return this.#tie(packet.timestamp, clockRate, 0)
  }

  /** Continues with another stream, without a gap in the index. */
  #goOn(packet: Placed, clockRate: number | undefined, due: number): boolean {
    this.#proof = -1
    this.#reach(packet.sequence, this.newestIndex + 1)
    this.ticks = Math.max(due, this.newestTicks + this.step)
    // The timestamp of an event is only a lower bound for the timestamp of the next audio.
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
    const sameClock = (ticksPerMs * 1000) / clockRate === this.#scale
    let ticks = this.newestTicks + timestampAhead(packet.timestamp, this.#timestamp) * this.#scale
    if (ahead > 0) {
      const jumped = Math.abs(due - ticks) > jumpMs * ticksPerMs || ticks <= this.newestTicks
      if (!sameClock || jumped) ticks = Math.max(due, this.newestTicks + this.step * ahead)
      else if (ahead === 1 && ticks - this.newestTicks <= maxStep) this.step = ticks - this.newestTicks
      this.#reach(packet.sequence, index)
      return this.#tie(packet.timestamp, clockRate, ticks)
    }
    this.index = index
    const behind = this.newestTicks - ticks
    const odd = behind < 0 || behind > jumpMs * ticksPerMs
    this.ticks = odd ? this.newestTicks + this.step * ahead : ticks
    return true
  }

  #reach(sequence: number, index: number): void {
    this.#sequence = sequence
    this.newestIndex = index
    this.index = index
  }

  /** Maps `timestamp` to `ticks` from now on. */
  #tie(timestamp: number, clockRate: number, ticks: number): boolean {
    this.#timestamp = timestamp
    this.#scale = (ticksPerMs * 1000) / clockRate
    this.newestTicks = ticks
    this.ticks = ticks
    return true
  }
}
