import { headerBytes, type RtpHeader, sequenceAhead, timestampAhead, writeRtpHeader } from './packet.ts'
import { ReplayWindow } from './replay-window.ts'

/**
 * Maximum step of a forwarded source's sequence that is passed on as loss; a larger one counts as a new
 * source.
 */
const maxSequenceGap = 100
/** Maximum deviation of a source's timestamps from the elapsed time, in ms. */
const maxSkewMs = 1000
/**
 * Maximum time after the last packet for which a new source continues without a gap, in ms: half a packet,
 * for a late timer.
 */
const snapMs = 10

/**
 * Distance to a roll-over within which numbers are skipped. It is the maximum gap that receivers count as
 * loss (RFC 3550 appendix A.1): a minute with packets of 20 ms.
 */
const nearRollOver = 3000

/** Random start values of a stream (RFC 3550 section 5.1). */
export interface StreamSeed {
  readonly ssrc: number
  readonly sequence: number
  readonly timestamp: number
}

/**
 * The one stream that a port sends, independent of the sources behind it. It keeps one SSRC; sequence and
 * timestamp only increase. Within a source the timestamp follows the source; over a change of source it
 * follows the elapsed time, with the marker set.
 *
 * Loss and reordering of a forwarded source stay visible, so that the receiver can conceal them. Durations
 * are in units of the codec's clock.
 */
export class OutgoingStream {
  readonly header: RtpHeader
  #source: object | undefined
  #sourceSsrc = 0
  #sourceSequence = 0
  #sourceTimestamp = 0
  #sourceAt = 0
  /** Source sequence number up to which late packets are rejected. */
  #floor = 0
  /** Source timestamp before which late packets are rejected: it belongs to another source, or is too old. */
  #floorTimestamp = 0
  /** Sequence number without wrap, so that it is never negative. */
  #sequence: number
  /** Recently sent sequence numbers: none may be sent twice. */
  #sent = new ReplayWindow()
  #timestamp: number
  /** Time that `#timestamp` corresponds to, and number of units covered from there. */
  #at = 0
  #covers = 0
  #hasStarted = false
  /** Timestamp units per millisecond. */
  #rate = 8
  /** Whether the source was silent, so that its next packet starts a talkspurt. */
  #isSilent = false

  constructor(seed: StreamSeed) {
    this.header = { payloadType: 0, marker: false, sequence: 0, timestamp: 0, ssrc: seed.ssrc >>> 0 }
    this.#sequence = 0x10000 + seed.sequence - 1
    this.#timestamp = seed.timestamp >>> 0
  }

  /**
   * Sets the clock rate of the codec, in Hz. Timestamps continue from the last packet's at the new rate (RFC
   * 7160: with one SSRC they never decrease). An event in progress keeps its timestamp.
   */
  setClock(hz: number): void {
    const rate = hz / 1000
    if (rate === this.#rate) return
    this.#covers = Math.round((this.#covers * rate) / this.#rate)
    this.#rate = rate
    this.interrupt()
  }

  /** Returns the RTP timestamp that corresponds to `now`, for sender reports. */
  timestampAt(now: number): number {
    return (this.#timestamp + Math.round((now - this.#at) * this.#rate)) >>> 0
  }

  /**
   * Numbers a forwarded packet in {@link header}. Returns false if the packet must not be sent: it is a
   * duplicate, late after a change, or has an impossible timestamp. `samples`: duration of the packet;
   * `marker`: its marker bit.
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
      if (ahead <= 0 && ahead >= -maxSequenceGap) return this.#late(sequence, timestamp, ahead)
      const advance = timestampAhead(timestamp, this.#sourceTimestamp)
      const passed = (now - this.#sourceAt) * this.#rate
      if (
        ahead > 0 &&
        ahead <= maxSequenceGap &&
        advance > 0 &&
        Math.abs(advance - passed) <= maxSkewMs * this.#rate
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

  /**
   * Accounts for a packet of the forwarded source that is not sent (an event, comfort noise). Later numbers
   * close the gap, so that the packet does not appear lost.
   */
  leaveOut(source: object, ssrc: number, sequence: number): void {
    if (source !== this.#source || ssrc !== this.#sourceSsrc) return
    const ahead = sequenceAhead(sequence, this.#sourceSequence)
    if (ahead <= 0 || ahead > maxSequenceGap) return
    this.#sequence += ahead - 1
    this.#sourceSequence = sequence
    this.#floor = sequence
  }

  /**
   * Numbers a packet of local audio. As long as `source` is the same, timestamps continue without a gap,
   * independent of `now`.
   */
  own(now: number, source: object, samples: number): void {
    const same = source === this.#source
    const marker = !same || this.#isSilent
    this.#isSilent = false
    this.#source = source
    if (same) this.#goOn()
    else this.#proceed(now)
    this.#number(1, samples, marker)
  }

  /** Omits the next `samples` of the local source (discontinuous transmission). */
  skip(samples: number): void {
    this.#covers += samples
    this.#isSilent = true
  }

  /**
   * Numbers a packet of silence or comfort noise, without a marker unless it is the first packet. The next
   * audio starts a talkspurt.
   */
  silence(now: number, samples: number): void {
    const first = !this.#hasStarted
    this.#source = undefined
    this.#proceed(now)
    this.#number(1, samples, first)
  }

  /**
   * Numbers a packet of an event (RFC 4733 section 2.2.1): all packets of one event have its start as
   * timestamp. `ms` is the duration so far; `first` starts a new event.
   */
  event(now: number, ms: number, first: boolean): void {
    this.#source = undefined
    if (first) this.#proceed(now)
    this.#number(1, ms * this.#rate, first)
  }

  /**
   * Makes the next packet count as that of a new source: it gets the marker, and a timestamp by the elapsed
   * time. No effect if `source` is given and is not the current one.
   */
  interrupt(source = this.#source): void {
    if (source === this.#source) this.#source = undefined
  }

  /**
   * Skips the numbers before an imminent roll-over. A far end that starts decrypting with a roll-over counter
   * of zero would never recover if it missed the packets before (RFC 3711 section 3.3.1).
   */
  avoidRollOver(): void {
    const left = 0xffff - (this.#sequence & 0xffff)
    if (left >= nearRollOver) return
    this.#sequence += left
    this.interrupt()
  }

  /** Writes {@link header} with this payload type. */
  write(packet: Buffer, at: number, payloadType: number): void {
    this.header.payloadType = payloadType
    writeRtpHeader(packet, at, this.header)
  }

  /** Returns a new packet with room for `payloadBytes` after the header. */
  make(payloadType: number, payloadBytes: number): Buffer {
    const packet = Buffer.allocUnsafe(headerBytes + payloadBytes)
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
    const most = maxSkewMs * this.#rate
    if (timestampAhead(timestamp, this.#floorTimestamp) > most)
      this.#floorTimestamp = (timestamp - most) >>> 0
  }

  /** Advances the timestamp to the end of the last packet. */
  #goOn(): void {
    this.#timestamp += this.#covers
    this.#at += this.#covers / this.#rate
  }

  /** Advances the timestamp by the elapsed time, but not to a time that was already sent. */
  #proceed(now: number): void {
    const passed = Math.round((now - this.#at) * this.#rate)
    if (this.#hasStarted && passed < this.#covers + snapMs * this.#rate) {
      this.#goOn()
      return
    }
    if (this.#hasStarted) this.#timestamp += passed
    this.#at = now
  }

  /** Numbers a packet with the current timestamp, `ahead` sequence numbers after the last packet. */
  #number(ahead: number, samples: number, marker: boolean): void {
    this.#hasStarted = true
    this.#sequence += ahead
    this.#sent.take(this.#sequence)
    this.#timestamp = this.#timestamp >>> 0
    this.#covers = samples
    this.header.sequence = this.#sequence & 0xffff
    this.header.timestamp = this.#timestamp
    this.header.marker = marker
  }
}
