import { HEADER_BYTES, type RtpHeader, sequenceAhead, timestampAhead, writeRtpHeader } from './packet.ts'
import { ReplayWindow } from './replay-window.ts'

/** Largest step of a forwarded source's sequence that is passed on as loss; beyond it the source counts as a new one. */
const MAX_GAP = 100
/** How far a source's timestamps may differ from the time that passed before they are not believed, in ms. */
const MAX_SKEW_MS = 1000
/** A change of source this close to the end of the last packet follows it without a gap: half a packet of timer's lateness, in ms. */
const SNAP_MS = 10

/** Numbers before a roll-over that can be left out: the most that receivers take for loss (RFC 3550 appendix A.1), a minute of packets of 20 ms. */
const NEAR_ROLL_OVER = 3000

/** Random numbers that a stream starts from (RFC 3550 section 5.1). */
export interface StreamSeed {
  readonly ssrc: number
  readonly sequence: number
  readonly timestamp: number
}

/**
 * The one stream that a port sends, whatever speaks behind it. It has one SSRC for life; the sequence never goes back, and the
 * timestamp only goes on: within a source as the source says, over a change of source by the time that passed, with the marker set.
 * What a forwarded source lost or reordered stays visible, so that the receiver can conceal it. Durations are in units of the
 * codec's clock.
 */
export class StreamOut {
  readonly header: RtpHeader
  #source: object | undefined
  #sourceSsrc = 0
  #sourceSequence = 0
  #sourceTimestamp = 0
  #sourceAt = 0
  /** Source packets up to here have their place; late ones before it have none any more. */
  #floor = 0
  /** No late packet may stand before this of the source's timestamps: another source is there, or it is too long ago. */
  #floorTimestamp = 0
  /** Counts on over the wrap, so that it is never below zero. */
  #sequence: number
  /** The numbers sent last, each of which is sent once. */
  #sent = new ReplayWindow()
  #timestamp: number
  /** The moment that `#timestamp` stands for, and how many units are covered from there. */
  #at = 0
  #covers = 0
  #started = false
  /** Units per millisecond. */
  #rate = 8
  /** The source has been silent: its next packet begins to talk. */
  #silent = false

  constructor(seed: StreamSeed) {
    this.header = { payloadType: 0, marker: false, sequence: 0, timestamp: 0, ssrc: seed.ssrc >>> 0 }
    this.#sequence = 0x10000 + seed.sequence - 1
    this.#timestamp = seed.timestamp >>> 0
  }

  /**
   * Clock rate of the codec, in Hz. Timestamps go on from the last packet's, at the new rate (RFC 7160: with one SSRC they never go back); an
   * event that is being sent keeps its own to its end.
   */
  setClock(hz: number): void {
    const rate = hz / 1000
    if (rate === this.#rate) return
    this.#covers = Math.round((this.#covers * rate) / this.#rate)
    this.#rate = rate
    this.interrupt()
  }

  /** The RTP timestamp that stands for `now`, for sender reports. */
  timestampAt(now: number): number {
    return (this.#timestamp + Math.round((now - this.#at) * this.#rate)) >>> 0
  }

  /**
   * Numbers a packet of a source that is passed on, in {@link header}. False: it has no place any more (a repetition, late over a
   * change, or with a timestamp that cannot be), so it is not to be sent. `samples` is what its payload covers.
   */
  forward(
    now: number,
    source: object,
    ssrc: number,
    sequence: number,
    timestamp: number,
    samples: number,
    marker: boolean,
  ): boolean {
    if (source === this.#source && ssrc === this.#sourceSsrc) {
      const ahead = sequenceAhead(sequence, this.#sourceSequence)
      if (ahead <= 0 && ahead >= -MAX_GAP) return this.#late(sequence, timestamp, ahead)
      const advance = timestampAhead(timestamp, this.#sourceTimestamp)
      const passed = (now - this.#sourceAt) * this.#rate
      if (
        ahead > 0 &&
        ahead <= MAX_GAP &&
        advance > 0 &&
        Math.abs(advance - passed) <= MAX_SKEW_MS * this.#rate
      ) {
        this.#follow(sequence, timestamp, now)
        this.#timestamp += advance
        this.#at = now
        this.#number(ahead, samples, marker)
        return true
      }
    }
    this.#source = source
    this.#sourceSsrc = ssrc
    this.#floor = sequence
    this.#floorTimestamp = timestamp
    this.#follow(sequence, timestamp, now)
    this.#proceed(now)
    this.#number(1, samples, true)
    return true
  }

  /** A packet of the forwarded source is held back (an event, comfort noise): its number is closed up, so that it is not taken for lost. */
  leaveOut(source: object, ssrc: number, sequence: number): void {
    if (source !== this.#source || ssrc !== this.#sourceSsrc) return
    const ahead = sequenceAhead(sequence, this.#sourceSequence)
    if (ahead <= 0 || ahead > MAX_GAP) return
    this.#sequence += ahead - 1
    this.#sourceSequence = sequence
    this.#floor = sequence
  }

  /** Numbers a packet of talk that is made here. A `source` that goes on is continuous whatever the clock says. */
  own(now: number, source: object, samples: number): void {
    const same = source === this.#source
    const marker = !same || this.#silent
    this.#silent = false
    this.#source = source
    if (same) this.#goOn()
    else this.#proceed(now)
    this.#number(1, samples, marker)
  }

  /** The source of {@link own} goes on, but its next `samples` are not sent (discontinuous transmission). */
  skip(samples: number): void {
    this.#covers += samples
    this.#silent = true
  }

  /** Numbers a packet of silence or comfort noise: no talk, so no marker unless it is the very first; what comes next begins to talk. */
  silence(now: number, samples: number): void {
    const first = !this.#started
    this.#source = undefined
    this.#proceed(now)
    this.#number(1, samples, first)
  }

  /**
   * Numbers a packet of an event (RFC 4733 section 2.2.1): all packets of one event have the timestamp of its beginning. `ms`
   * is the event's duration so far; `first` begins a new event.
   */
  event(now: number, ms: number, first: boolean): void {
    this.#source = undefined
    if (first) this.#proceed(now)
    this.#number(1, ms * this.#rate, first)
  }

  /**
   * Whatever comes next is a new source: it gets the marker, and its place by the time that passed. With `source`: only if that is
   * the one that speaks.
   */
  interrupt(source = this.#source): void {
    if (source === this.#source) this.#source = undefined
  }

  /**
   * Leaves out the numbers before a roll-over that is near: a far end that begins to decrypt now, with a roll-over counter of zero, would never
   * hear us if the packets before it were lost, or sent before it had our key (RFC 3711 section 3.3.1).
   */
  avoidRollOver(): void {
    const left = 0xffff - (this.#sequence & 0xffff)
    if (left >= NEAR_ROLL_OVER) return
    this.#sequence += left
    this.interrupt()
  }

  /** Writes {@link header} with this payload type. */
  write(packet: Buffer, at: number, payloadType: number): void {
    this.header.payloadType = payloadType
    writeRtpHeader(packet, at, this.header)
  }

  /** A new packet with room for `payloadBytes` behind the header. */
  make(payloadType: number, payloadBytes: number): Buffer {
    const packet = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes)
    this.write(packet, 0, payloadType)
    return packet
  }

  #late(sequence: number, timestamp: number, ahead: number): boolean {
    if (ahead === 0 || sequenceAhead(sequence, this.#floor) <= 0) return false
    const behind = timestampAhead(timestamp, this.#sourceTimestamp)
    if (behind >= 0 || timestampAhead(timestamp, this.#floorTimestamp) < 0) return false
    const number = this.#sequence + ahead
    if (!this.#sent.permits(number)) return false
    this.#sent.take(number)
    this.header.sequence = number & 0xffff
    this.header.timestamp = (this.#timestamp + behind) >>> 0
    this.header.marker = false
    return true
  }

  #follow(sequence: number, timestamp: number, now: number): void {
    this.#sourceSequence = sequence
    this.#sourceTimestamp = timestamp
    this.#sourceAt = now
    const most = MAX_SKEW_MS * this.#rate
    if (timestampAhead(timestamp, this.#floorTimestamp) > most)
      this.#floorTimestamp = (timestamp - most) >>> 0
  }

  /** Moves to the end of the last packet. */
  #goOn(): void {
    this.#timestamp += this.#covers
    this.#at += this.#covers / this.#rate
  }

  /** Moves on by the time that passed, but never into what was sent already. */
  #proceed(now: number): void {
    const passed = Math.round((now - this.#at) * this.#rate)
    if (this.#started && passed < this.#covers + SNAP_MS * this.#rate) {
      this.#goOn()
      return
    }
    if (this.#started) this.#timestamp += passed
    this.#at = now
  }

  /** Numbers a packet at the place that was moved to, `ahead` numbers after the last. */
  #number(ahead: number, samples: number, marker: boolean): void {
    this.#started = true
    this.#sequence += ahead
    this.#sent.take(this.#sequence)
    this.#timestamp = this.#timestamp >>> 0
    this.#covers = samples
    this.header.sequence = this.#sequence & 0xffff
    this.header.timestamp = this.#timestamp
    this.header.marker = marker
  }
}
