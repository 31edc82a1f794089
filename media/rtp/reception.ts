import { sequenceAhead } from './packet.ts'

/** Largest forward step that counts as loss rather than as a restart of the sender (RFC 3550 A.1). */
const MAX_DROPOUT = 3000
/** Furthest a late packet may lie behind. */
const MAX_MISORDER = 100
/** No sequence number: what {@link Reception} expects when it expects nothing. */
const NONE = -1

/** A report block's figures about what was received (RFC 3550 section 6.4.1). */
export interface ReceptionReport {
  readonly ssrc: number
  /** Share lost since the last report, in 256ths. */
  readonly fractionLost: number
  /** Over the current source, clamped to 24 bits, signed. */
  readonly lost: number
  readonly highestSequence: number
  /** In timestamp units. */
  readonly jitter: number
}

/**
 * Statistics of reception: RFC 3550 A.1 (sequence numbers), A.3 (loss) and A.8 (jitter). There is no probation, as the source was
 * validated by the latch. Totals run on over a change of source; a report is about the current one only.
 */
export class Reception {
  #clockRate: number
  #ssrc = 0
  #started = false
  #first = 0
  #highest = 0
  #cycles = 0
  #bad = NONE
  #received = 0
  #earlierExpected = 0
  #earlierReceived = 0
  #transit: number | undefined
  #hasAudio = false
  #jitter = 0
  #reportedExpected = 0
  #reportedReceived = 0

  /** `clockRate` is of the timestamps, in Hz. */
  constructor(clockRate = 8000) {
    this.#clockRate = clockRate
  }

  /** Source heard last; undefined before the first packet. */
  get ssrc(): number | undefined {
    return this.#started ? this.#ssrc : undefined
  }

  /** Audio was received, and not events or noise alone. */
  get hasAudio(): boolean {
    return this.#hasAudio
  }

  /** Packets received, over all sources. */
  get received(): number {
    return this.#earlierReceived + this.#received
  }

  /** Expected minus received, over all sources; negative when packets came twice. */
  get lost(): number {
    return this.#earlierExpected + this.#expected() - this.received
  }

  /** Of the timestamps from now on, in Hz; the jitter is measured on from what it was. */
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
   * Counts one packet. `now` in ms. A new `ssrc` starts a new source. `timed` is false for packets whose timestamp is not that of
   * their sending (events), which would spoil the jitter.
   */
  update(now: number, ssrc: number, sequence: number, timestamp: number, timed: boolean): void {
    if (!this.#started || ssrc !== this.#ssrc) this.#restart(ssrc, sequence)
    else this.#sequence(sequence)
    this.#received++
    if (!timed) return
    this.#hasAudio = true
    const transit = ((now * this.#clockRate) / 1000 - timestamp) % 0x100000000
    if (this.#transit !== undefined) {
      // Both wrap at 32 bits, so the difference is taken there too.
      let change = Math.abs(transit - this.#transit)
      if (change > 0x80000000) change = 0x100000000 - change
      this.#jitter += (change - this.#jitter) / 16
    }
    this.#transit = transit
  }

  /** The figures for a report block; starts the next interval. Undefined before the first packet. */
  report(): ReceptionReport | undefined {
    if (!this.#started) return undefined
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
    return this.#started ? this.#cycles + this.#highest - this.#first + 1 : 0
  }

  #restart(ssrc: number, sequence: number): void {
    this.#earlierExpected += this.#expected()
    this.#earlierReceived += this.#received
    this.#started = true
    this.#ssrc = ssrc
    this.#first = sequence
    this.#highest = sequence
    this.#cycles = 0
    this.#bad = NONE
    this.#received = 0
    this.#reportedExpected = 0
    this.#reportedReceived = 0
    this.#transit = undefined
    this.#jitter = 0
  }

  #sequence(sequence: number): void {
    const ahead = sequenceAhead(sequence, this.#highest)
    if (ahead >= 0 && ahead < MAX_DROPOUT) {
      if (sequence < this.#highest) this.#cycles += 0x10000
      this.#highest = sequence
      this.#bad = NONE
    } else if (ahead < -MAX_MISORDER || ahead >= MAX_DROPOUT) {
      // Two in a row after a jump: the other side has restarted without telling.
      if (sequence === this.#bad) this.#restart(this.#ssrc, sequence)
      else this.#bad = (sequence + 1) & 0xffff
    }
  }
}
