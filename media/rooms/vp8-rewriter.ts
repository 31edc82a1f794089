import {
  headerBytes,
  readRtp,
  rtpView,
  sequenceAhead,
  timestampAhead,
  writeRtpHeader,
} from '../rtp/packet.ts'
import { ReplayWindow } from '../rtp/replay-window.ts'
import type { SenderInfo } from '../rtp/rtcp.ts'
import { framePart, readVp8, type Vp8View, vp8DescriptorBytes, vp8View, writeVp8 } from './vp8-descriptor.ts'

/** Timestamp units per millisecond: the clock of all video is 90 kHz. */
const rate = 90
/** Maximum step of a source's sequence numbers and picture ids that is passed on as loss. */
const maxGap = 1000
/** Number of packets behind the newest that are still forwarded: retransmissions arrive late. */
const maxLate = 1000
/** Maximum time by which a source's timestamps may advance faster than the clock, in ms. */
const maxHasteMs = 2000
/** Minimum distance in timestamps between two sources: a millisecond. */
const minStep = rate

/** Numbers of a packet; the sequence number of a sent one is without wrap. */
interface Numbers {
  readonly sequence: number
  readonly timestamp: number
  readonly pictureId: number
  readonly tl0PicIdx: number
}

/** First numbers of a rewritten stream (RFC 3550 section 5.1: random ones). */
export interface Vp8Seed {
  readonly ssrc: number
  readonly payloadType: number
  readonly sequence: number
  readonly timestamp: number
  /** First picture id, 0 to 32767. */
  readonly pictureId: number
}

/**
 * One continuous VP8 stream from the packets of changing sources. Its SSRC stays. Sequence numbers,
 * timestamps, picture ids and base layer indexes (RFC 7741) only increase, so that a decoder continues over
 * each change. Loss and reordering of a source stay visible.
 *
 * A source begins with the first packet of a key frame. A source whose numbers jump begins again in the same
 * way. Header extensions, contributing sources and padding are dropped.
 */
export class Vp8Rewriter {
  readonly #header
  readonly #rtp = rtpView()
  readonly #vp8 = vp8View()
  #source: object | undefined
  /** Numbers of the newest packet, as the source sent it. */
  #in: Numbers = { sequence: 0, timestamp: 0, pictureId: 0, tl0PicIdx: 0 }
  /** Fields of the descriptors of the source. */
  #fields = 0
  /** Numbers of the newest packet, as it was sent on. */
  #out: Numbers
  /** Numbers of the first packet of the source: late packets before it are dropped. */
  #floor: Numbers
  /** Time at which the newest packet was sent. */
  #at = 0
  #sent = new ReplayWindow(maxLate)
  #packets = 0
  #octets = 0
  #hasJumped = false

  constructor({ ssrc, payloadType, sequence, timestamp, pictureId }: Vp8Seed) {
    this.#header = { payloadType, marker: false, sequence: 0, timestamp: 0, ssrc: ssrc >>> 0 }
    this.#out = {
      sequence: 0x10000 + sequence - 1,
      timestamp: timestamp >>> 0,
      pictureId: (pictureId - 1) & 0x7fff,
      tl0PicIdx: 0,
    }
    this.#floor = this.#out
  }

  /**
   * Whether packets of the source are dropped until its next key frame, because its numbers jumped. False
   * again after that key frame.
   */
  get needsKeyFrame(): boolean {
    return this.#hasJumped
  }

  /** Returns the sender information for an RTCP sender report at `now`. */
  senderInfo(now: number): SenderInfo {
    const timestamp = (this.#out.timestamp + Math.round((now - this.#at) * rate)) >>> 0
    return { at: now, timestamp, packets: this.#packets, octets: this.#octets }
  }

  /**
   * Returns a source's packet with the numbers of the stream; undefined if it must not be sent. `now` in ms.
   * A packet of another source than before changes the source if it starts a key frame, and is dropped
   * otherwise.
   */
  forward(now: number, source: object, packet: Buffer): Buffer | undefined {
    const rtp = this.#rtp
    if (!readRtp(packet, rtp)) return undefined
    const isSame = source === this.#source
    if (rtp.start === rtp.end) return isSame ? this.#padding() : undefined
    if (!readVp8(packet, rtp.start, rtp.end, this.#vp8)) return undefined
    const ahead = sequenceAhead(rtp.sequence, this.#in.sequence)
    const isLate = isSame && ahead <= 0 && ahead > -maxLate
    if (isSame && !this.#hasJumped && this.#follows(ahead, now))
      return isLate
        ? this.#sendLate(packet, this.#numbers(ahead))
        : this.#sendNewest(packet, this.#numbers(ahead), now)
    if (isLate) return undefined
    if (this.#vp8.isKeyFrameStart) return this.#begin(packet, source, now)
    this.#hasJumped ||= isSame
    return undefined
  }

  /** Returns a packet with a whole key frame of no source. The source before must begin again. */
  still(now: number, frame: Buffer): Buffer {
    this.#source = undefined
    this.#out = this.#nextPicture(now)
    this.#at = now
    return this.#write(this.#out, framePart(this.#out.pictureId, true), frame, true)
  }

  /** Whether a packet continues the source: its numbers move together, and not too far. */
  #follows(ahead: number, now: number): boolean {
    const { pictureId, tl0PicIdx, fields, pictureIdBits } = this.#vp8
    if (ahead > maxGap || ahead <= -maxLate || fields !== this.#fields) return false
    const advance = timestampAhead(this.#rtp.timestamp, this.#in.timestamp)
    if (ahead > 0 ? advance < 0 : advance > 0) return false
    if (advance > (now - this.#at + maxHasteMs) * rate) return false
    if (pictureId !== undefined) {
      const pictures = difference(pictureId, this.#in.pictureId, pictureIdBits)
      if (Math.sign(pictures) !== Math.sign(advance) || Math.abs(pictures) > maxGap) return false
    }
    if (tl0PicIdx === undefined) return true
    const layers = difference(tl0PicIdx, this.#in.tl0PicIdx, 8)
    return layers === 0 || Math.sign(layers) === Math.sign(advance)
  }

  #begin(packet: Buffer, source: object, now: number): Buffer {
    this.#source = source
    this.#hasJumped = false
    this.#fields = this.#vp8.fields
    this.#floor = this.#nextPicture(now)
    return this.#sendNewest(packet, this.#floor, now)
  }

  /** Returns the numbers of a new picture, with the timestamp advanced by the elapsed time. */
  #nextPicture(now: number): Numbers {
    const { sequence, timestamp, pictureId, tl0PicIdx } = this.#out
    const passed = this.#packets === 0 ? 0 : Math.max(Math.round((now - this.#at) * rate), minStep)
    return {
      sequence: sequence + 1,
      timestamp: (timestamp + passed) >>> 0,
      pictureId: (pictureId + 1) & 0x7fff,
      tl0PicIdx: (tl0PicIdx + 1) & 0xff,
    }
  }

  #sendNewest(packet: Buffer, numbers: Numbers, now: number): Buffer {
    const { pictureId = 0, tl0PicIdx = 0 } = this.#vp8
    const { sequence, timestamp } = this.#rtp
    this.#in = { sequence, timestamp, pictureId, tl0PicIdx }
    this.#out = numbers
    this.#at = now
    return this.#send(packet, numbers)
  }

  #sendLate(packet: Buffer, numbers: Numbers): Buffer | undefined {
    const { sequence, timestamp, pictureId } = this.#floor
    if (numbers.sequence < sequence || !this.#sent.permits(numbers.sequence)) return undefined
    if (timestampAhead(numbers.timestamp, timestamp) < 0) return undefined
    if (difference(numbers.pictureId, pictureId, 15) < 0) return undefined
    return this.#send(packet, numbers)
  }

  /** Returns an empty packet, which keeps the sequence. Browsers probe the path with padding. */
  #padding(): Buffer | undefined {
    const { sequence } = this.#rtp
    const ahead = sequenceAhead(sequence, this.#in.sequence)
    if (this.#hasJumped || ahead <= 0 || ahead > maxGap) return undefined
    this.#in = { ...this.#in, sequence }
    this.#out = { ...this.#out, sequence: this.#out.sequence + ahead }
    return this.#write(this.#out, undefined, empty, false)
  }

  /** Returns the numbers for a packet of the source, `ahead` of its newest. */
  #numbers(ahead: number): Numbers {
    const { pictureId, tl0PicIdx, pictureIdBits } = this.#vp8
    const advance = timestampAhead(this.#rtp.timestamp, this.#in.timestamp)
    const pictures = pictureId === undefined ? 0 : difference(pictureId, this.#in.pictureId, pictureIdBits)
    const layers = tl0PicIdx === undefined ? 0 : difference(tl0PicIdx, this.#in.tl0PicIdx, 8)
    return {
      sequence: this.#out.sequence + ahead,
      timestamp: (this.#out.timestamp + advance) >>> 0,
      pictureId: (this.#out.pictureId + pictures) & 0x7fff,
      tl0PicIdx: (this.#out.tl0PicIdx + layers) & 0xff,
    }
  }

  #send(packet: Buffer, numbers: Numbers): Buffer {
    const vp8 = this.#vp8
    if (vp8.pictureId !== undefined) vp8.pictureId = numbers.pictureId
    if (vp8.tl0PicIdx !== undefined) vp8.tl0PicIdx = numbers.tl0PicIdx
    const { end, marker } = this.#rtp
    return this.#write(numbers, vp8, packet.subarray(vp8.start, end), marker)
  }

  #write({ sequence, timestamp }: Numbers, vp8: Vp8View | undefined, data: Buffer, marker: boolean): Buffer {
    const header = this.#header
    header.sequence = sequence & 0xffff
    header.timestamp = timestamp
    header.marker = marker
    const start = headerBytes + (vp8 ? vp8DescriptorBytes(vp8) : 0)
    const packet = Buffer.allocUnsafe(start + data.length)
    writeRtpHeader(packet, 0, header)
    if (vp8) writeVp8(packet, headerBytes, vp8)
    data.copy(packet, start)
    this.#sent.take(sequence)
    this.#packets++
    this.#octets += packet.length - headerBytes
    return packet
  }
}

const empty = Buffer.alloc(0)

/** Returns the difference of two numbers of this many bits, signed: positive if `a` is later than `b`. */
const difference = (a: number, b: number, bits: number): number => ((a - b) << (32 - bits)) >> (32 - bits)
