import { codecInfo } from '../codecs/codec-info.ts'
import { Resampler } from '../codecs/resampler.ts'
import type { Codecs, Decoder } from '../codecs/types.ts'
import type { AudioCodec, PcmRate } from '../types.ts'
import { ComfortNoise, readComfortNoise } from './comfort-noise.ts'
import type { DelayManner } from './delay-estimate.ts'
import { type Incoming, JitterBuffer } from './jitter-buffer.ts'
import type { RtpView } from './packet.ts'
import type { Content, PacketSlot } from './packet-ring.ts'
import { SampleQueue } from './sample-queue.ts'
import { TimeScale } from './time-scale.ts'
import { ticksPerMs } from './timeline.ts'

/** Maximum length of one piece of concealment. */
const pieceMs = 10
/** Maximum length of a loss that is concealed or restored at once. */
const maxLossMs = 60
/** Time without a packet after which concealment ends; Opus renews its own noise more often. */
const maxIdleMs = 2000
/** Time after which comfort noise ends; a far side in DTX renews it from time to time. */
const maxNoiseMs = 30_000
/** Maximum packet duration (RFC 3551 section 4.2) that the queue must hold. */
const maxPacketMs = 200
const frameMs = 20
/** Number of packets over which the delay is averaged. */
const delayMemory = 64
/** Number of packets of which the youngest counts for the age: a late frame makes single ones look old. */
const ageMemory = 8
/** Time without a packet's audio after which the age is the expected one of the next packet. */
const restMs = 200

/** Options of a {@link Playout}. */
export interface PlayoutOptions {
  readonly codecs: Codecs
  /** Rate of the frames from {@link Playout.read}. */
  readonly rate: PcmRate
  /**
   * Seed of the comfort noise, different for each far end: equal noise would add up in a mixer. See {@link
   * ComfortNoise}.
   */
  readonly noiseSeed: number
  /** Bounds of the buffer's delay in ms; default 20 and 200. */
  readonly minDelayMs?: number
  readonly maxDelayMs?: number
  /** Choice of the delay between them; default {@link evenManner}. */
  readonly manner?: DelayManner
}

/** Counters of one playout, over all its sources. */
export interface PlayoutStats {
  /** Milliseconds of audio concealed or restored for lost and late packets. */
  readonly concealedMs: number
  /** Number of packets missing at their time, and of those restored from the next packet (Opus FEC). */
  readonly lost: number
  readonly recovered: number
  /** Number of packets dropped as too late, and as duplicates. */
  readonly late: number
  readonly duplicate: number
  /** Number of packets that failed to decode. */
  readonly undecodable: number
  /**
   * Mean time from a packet's arrival to its playout over the last seconds, in ms. 0 before the first packet.
   */
  readonly delayMs: number
  /** Target delay of the buffer, in ms. */
  readonly targetMs: number
}

/**
 * Turns the packets of one far side into evenly paced frames: jitter buffer, decoder, concealment and
 * resampling. {@link read} always gives 20 ms. Sans-IO: `now` is in ms, from the same clock for all methods,
 * and never decreases.
 */
export class Playout {
  #codecs: Codecs
  #rate: PcmRate
  #buffer: JitterBuffer
  #queue: SampleQueue
  #scale: TimeScale
  #codec: AudioCodec | undefined
  #decoder: Decoder | undefined
  #resampler: Resampler
  /** Output of the decoder; a packet that does not fit is rejected. */
  #decoded = new Int16Array(0)
  #noise: ComfortNoise
  #noiseLevel: number | undefined
  #noiseFrame: Int16Array
  /** Audio played since the last packet, in ms. */
  #idleMs = Number.POSITIVE_INFINITY
  #recovered = 0
  #delayMs = 0
  /** Ages of the last packets when they were played, as a ring. */
  readonly #ages = new Float64Array(ageMemory)
  #newestAge = 0
  /** Audio played since the last packet's audio, in ms. */
  #filledMs = Number.POSITIVE_INFINITY
  #undecodable = 0

  constructor(options: PlayoutOptions) {
    this.#codecs = options.codecs
    this.#buffer = new JitterBuffer(options.minDelayMs, options.maxDelayMs, options.manner)
    this.#noise = new ComfortNoise(options.noiseSeed)
    this.#rate = options.rate
    this.#queue = new SampleQueue(options.rate)
    this.#scale = new TimeScale(options.rate)
    this.#noiseFrame = new Int16Array((options.rate / 1000) * pieceMs)
    this.#resampler = new Resampler(options.rate, options.rate)
  }

  /** Rate of the frames from {@link read}, in Hz. */
  get rate(): PcmRate {
    return this.#rate
  }

  /**
   * Time from the arrival of the audio that {@link read} returns, in ms: the present depth of the buffer.
   * Averaged over the path's jitter. During a silence, that of the next audio.
   */
  get ageMs(): number {
    if (this.#filledMs < restMs) return Math.min(...this.#ages)
    return Math.max(0, this.#buffer.restMs + frameMs / 2)
  }

  /** Adds an accepted audio packet; copies its payload. */
  receive(now: number, codec: AudioCodec, view: RtpView, packet: Uint8Array): void {
    this.#insert(now, 'audio', codec, codecInfo[codec].clockRate, view, packet)
  }

  /**
   * Adds an accepted packet of comfort noise (RFC 3389); the following silence is filled with noise of its
   * level.
   */
  receiveNoise(now: number, view: RtpView, packet: Uint8Array): void {
    const codec = this.#codec ?? 'PCMU'
    // Comfort noise has the clock of the audio beside it.
    this.#insert(now, 'noise', codec, codecInfo[codec].clockRate, view, packet)
  }

  /** Accounts for an accepted packet without audio (telephone-event): its sequence number is not a loss. */
  skip(now: number, view: RtpView): void {
    this.#insert(now, 'event', 'PCMU', undefined, view, none)
  }

  /**
   * Writes the next 20 ms (`rate / 50` samples) to the beginning of `out`. Must be called every 20 ms on
   * average. Returns false, with zeros in `out`, before the first packet and after a long silence.
   */
  read(now: number, out: Int16Array): boolean {
    const count = this.#rate / 50
    const queue = this.#queue
    while (queue.length < count) this.#produce(now)
    queue.read(out, count)
    return this.#isHeard
  }

  /** Changes the rate of the frames. Buffered audio is kept. */
  setRate(rate: PcmRate): void {
    if (rate === this.#rate) return
    const former = this.#queue
    const between = new Resampler(this.#rate, rate)
    this.#rate = rate
    this.#queue = new SampleQueue(rate)
    this.#scale = new TimeScale(rate)
    this.#noiseFrame = new Int16Array((rate / 1000) * pieceMs)
    this.#resampler = new Resampler(this.#decoder?.sampleRate ?? rate, rate)
    const at = this.#queue.end
    this.#queue.end += between.process(former.samples, former.start, former.end, this.#queue.samples, at)
  }

  stats(): PlayoutStats {
    const { concealed, lost, late, duplicate, targetMs } = this.#buffer
    return {
      concealedMs: Math.round(concealed / ticksPerMs),
      lost,
      recovered: this.#recovered,
      late,
      duplicate,
      undecodable: this.#undecodable,
      delayMs: this.#delayMs,
      targetMs,
    }
  }

  /** Frees the decoder. Idempotent. */
  close(): void {
    this.#decoder?.close()
    this.#decoder = undefined
    this.#codec = undefined
  }

  get #isHeard(): boolean {
    return this.#idleMs < (this.#noiseLevel === undefined ? maxIdleMs : maxNoiseMs)
  }

  #insert(
    now: number,
    content: Content,
    codec: AudioCodec,
    clockRate: number | undefined,
    { ssrc, sequence, timestamp, start, end }: RtpView,
    packet: Uint8Array,
  ): void {
    const incoming: Incoming = { content, codec, clockRate, ssrc, sequence, timestamp }
    if (content === 'event') this.#buffer.insert(now, incoming, packet, 0, 0)
    else this.#buffer.insert(now, incoming, packet, start, end)
  }

  /** Adds audio for `now` to the queue; none for comfort noise, which follows with the next call. */
  #produce(now: number): void {
    const buffer = this.#buffer
    switch (buffer.next(now)) {
      case 'audio':
        this.#play(now, buffer.head!)
        break
      case 'noise':
        this.#hush(buffer.head!)
        break
      case 'lost':
        this.#bridge(buffer.head!)
        break
      case 'gap':
        this.#fill()
        break
      case 'wait':
        this.#fill()
        buffer.hold(pieceMs * ticksPerMs)
        break
    }
  }

  #play(now: number, head: PacketSlot): void {
    const decoder = this.#decoderOf(head.codec)
    const queue = this.#queue
    this.#idleMs = 0
    this.#noiseLevel = undefined
    const playedAt = now + (queue.length * 1000) / this.#rate
    this.#noteAge(playedAt - this.#buffer.arrivalOf(head.ticks))
    const delayMs = playedAt - head.arrivedAt
    // The mean of the first packets would begin at zero.
    this.#delayMs += (delayMs - this.#delayMs) / (this.#delayMs === 0 ? 1 : delayMemory)
    const samples = decoder.decode(head.bytes, 0, head.length, this.#decoded)
    if (samples < 0) {
      this.#undecodable++
      this.#fill()
      return
    }
    this.#append(samples)
    this.#buffer.advance((samples * ticksPerMs * 1000) / decoder.sampleRate, false)
    // The next packet is needed when no whole frame is left.
    const frames = Math.floor((queue.length * 50) / this.#rate)
    this.#scale.adjust(queue, this.#buffer.excessMs(now + frames * frameMs))
  }

  #noteAge(ageMs: number): void {
    if (this.#filledMs >= restMs) this.#ages.fill(ageMs)
    this.#filledMs = 0
    this.#newestAge = (this.#newestAge + 1) % ageMemory
    this.#ages[this.#newestAge] = ageMs
  }

  #hush(head: PacketSlot): void {
    const level = readComfortNoise(head.bytes, 0, head.length)
    if (level === undefined) this.#undecodable++
    else this.#noiseLevel = level
    this.#idleMs = 0
  }

  /** Conceals a loss, or restores it from the following packet. */
  #bridge(head: PacketSlot): void {
    const buffer = this.#buffer
    const decoder = this.#decoder
    const perTick = (decoder?.sampleRate ?? this.#rate) / (ticksPerMs * 1000)
    const ticks = Math.min(buffer.missing, maxLossMs * ticksPerMs)
    const samples = Math.round(ticks * perTick)
    buffer.advance(ticks, true)
    if (!decoder) {
      this.#silence(samples)
      return
    }
    const whole = buffer.isSingleLoss && head.codec === this.#codec && ticks === buffer.missing
    if (whole && decoder.recover?.(head.bytes, 0, head.length, samples, this.#decoded)) this.#recovered++
    else decoder.conceal(samples, this.#decoded)
    this.#append(samples)
  }

  /** Fills a silence of the far side, or a possible loss. */
  #fill(): void {
    const heard = this.#isHeard
    this.#idleMs += pieceMs
    this.#filledMs += pieceMs
    if (!heard) this.#silence(this.#noiseFrame.length)
    else if (this.#noiseLevel !== undefined) {
      const at = this.#queue.reserve(this.#noiseFrame.length)
      this.#noise.fill(this.#noiseLevel, this.#noiseFrame)
      this.#queue.samples.set(this.#noiseFrame, at)
      this.#queue.end += this.#noiseFrame.length
    } else if (this.#decoder) {
      const samples = (this.#decoder.sampleRate / 1000) * pieceMs
      this.#decoder.conceal(samples, this.#decoded)
      this.#append(samples)
    } else this.#silence(this.#noiseFrame.length)
  }

  /** Appends `count` samples of silence, at the rate of the frames. */
  #silence(count: number): void {
    const at = this.#queue.reserve(count)
    this.#queue.samples.fill(0, at, at + count)
    this.#queue.end += count
  }

  /** Appends the first `count` decoded samples to the queue. */
  #append(count: number): void {
    const at = this.#queue.reserve(Math.ceil((count * this.#rate) / this.#resampler.from) + 1)
    this.#queue.end += this.#resampler.process(this.#decoded, 0, count, this.#queue.samples, at)
  }

  #decoderOf(codec: AudioCodec): Decoder {
    if (this.#decoder && codec === this.#codec) return this.#decoder
    this.#decoder?.close()
    const decoder = this.#codecs.decoder(codec, this.#rate)
    this.#decoder = decoder
    this.#codec = codec
    this.#decoded = new Int16Array((decoder.sampleRate / 1000) * maxPacketMs)
    this.#resampler = new Resampler(decoder.sampleRate, this.#rate)
    return decoder
  }
}

const none = new Uint8Array(0)
