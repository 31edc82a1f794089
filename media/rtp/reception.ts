import { sequenceAhead } from './packet.ts'

/** Maximum forward step that counts as loss rather than as a restart of the sender (RFC 3550 A.1). */
const maxDropout = 3000
/** Maximum distance of a late packet. */
const maxMisorder = 100
/** No sequence number expected. */
const noSequence = -1

/** Data of a report block about the received stream (RFC 3550 section 6.4.1). */
export interface ReceptionReport {
  readonly ssrc: number
  /** Share lost since the last report, in 256ths. */
  readonly fractionLost: number
  /** Loss over the current source, clamped to 24 bits, signed. */
  readonly lost: number
  readonly highestSequence: number
  /** Jitter in timestamp units. */
  readonly jitter: number
}

/**
 * Reception statistics: RFC 3550 A.1 (sequence numbers), A.3 (loss) and A.8 (jitter). No probation, because
 * the latch has validated the source. Totals continue over a change of source; a report covers the current
 * source only.
 */
export class Reception {
  #clockRate: number
  #ssrc = 0
  #hasStarted = false
  #first = 0
  #highest = 0
  #cycles = 0
  #bad = noSequence
  #received = 0
  #earlierExpected = 0
  #earlierReceived = 0
  #transit: number | undefined
  #hasAudio = false
  #jitter = 0
  #reportedExpected = 0
  #reportedReceived = 0

  /** `clockRate` of the timestamps, in Hz. */
  constructor(clockRate = 8000) {
    this.#clockRate = clockRate
  }

  /** SSRC of the last packet; undefined before the first. */
  get ssrc(): number | undefined {
    return this.#hasStarted ? this.#ssrc : undefined
  }

  /** Whether audio was received, rather than only events or noise. */
  get hasAudio(): boolean {
    return this.#hasAudio
  }

  /** Number of packets received, over all sources. */
  get received(): number {
    return this.#earlierReceived + this.#received
  }

  /** Expected minus received packets, over all sources; negative if packets were duplicated. */
  get lost(): number {
    return this.#earlierExpected + this.#expected() - this.received
  }

  /** Sets the clock rate of the timestamps from now on, in Hz; the jitter is rescaled. */
  set clockRate(hz: number) {
    if (hz === this.#clockRate) return
    this.#jitter *= hz / this.#clockRate
    this.#clockRate = hz
    this.#transit = undefined
  }

  get jitterMs(): number {
    return (this.#jitter * 1000) / this.#clockRate
  }

  /**
   * Counts one packet; `now` in ms. A new `ssrc` starts a new source. `timed` is false for packets whose
   * timestamp is not their sending time (events), which do not affect the jitter.
   */
  update(now: number, ssrc: number, sequence: number, timestamp: number, timed: boolean): void {
    if (!this.#hasStarted || ssrc !== this.#ssrc) this.#restart(ssrc, sequence)
    else this.#sequence(sequence)
    this.#received++
    if (!timed) return
    this.#hasAudio = true
    const transit = ((now * this.#clockRate) / 1000 - timestamp) % 0x100000000
    if (this.#transit !== undefined) {
      // Both transit times wrap at 32 bits, so their difference wraps there too.
      let change = Math.abs(transit - this.#transit)
      if (change > 0x80000000) change = 0x100000000 - change
      this.#jitter += (change - this.#jitter) / 16
    }
    this.#transit = transit
  }

  /** Returns the data for a report block and starts the next interval. Undefined before the first packet. */
  report(): ReceptionReport | undefined {
    if (!this.#hasStarted) return undefined
    const expected = this.#expected()
    const expectedNow = expected - this.#reportedExpected
    const lostNow = expectedNow - (this.#received - this.#reportedReceived)
    this.#reportedExpected = expected
    this.#reportedReceived = this.#received
    return {
      ssrc: this.#ssrc,
      fractionLost:
        expectedNow > 0 && lostNow > 0 ? Math.min(255, Math.floor((lostNow * 256) / expectedNow)) : 0,
      lost: Math.max(-0x800000, Math.min(0x7fffff, expected - this.#received)),
      highestSequence: (this.#cycles + this.#highest) >>> 0,
      jitter: Math.floor(this.#jitter),
    }
  }

  #expected(): number {
    return this.#hasStarted ? this.#cycles + this.#highest - this.#first + 1 : 0
  }

  #restart(ssrc: number, sequence: number): void {
    this.#earlierExpected += this.#expected()
    this.#earlierReceived += this.#received
    this.#hasStarted = true
    this.#ssrc = ssrc
    this.#first = sequence
    this.#highest = sequence
    this.#cycles = 0
    this.#bad = noSequence
    this.#received = 0
    this.#reportedExpected = 0
    this.#reportedReceived = 0
    this.#transit = undefined
    this.#jitter = 0
  }

  #sequence(sequence: number): void {
    const ahead = sequenceAhead(sequence, this.#highest)
    if (ahead >= 0 && ahead < maxDropout) {
      if (sequence < this.#highest) this.#cycles += 0x10000
      this.#highest = sequence
      this.#bad = noSequence
    } else if (ahead < -maxMisorder || ahead >= maxDropout) {
      // Two consecutive numbers after a jump: the far side has restarted.
      if (sequence === this.#bad) this.#restart(this.#ssrc, sequence)
      else this.#bad = (sequence + 1) & 0xffff
    }
  }
}
