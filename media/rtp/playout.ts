import { codecFacts } from '../codecs/facts.ts'
import { Resampler } from '../codecs/resampler.ts'
import type { Codecs, Decoder } from '../codecs/types.ts'
import type { AudioCodec, PcmRate } from '../types.ts'
import { ComfortNoise, readComfortNoise } from './comfort-noise.ts'
import { type Incoming, JitterBuffer } from './jitter-buffer.ts'
import type { RtpView } from './packet.ts'
import type { Content, Slot } from './packet-ring.ts'
import { SampleQueue } from './sample-queue.ts'
import { TimeScale } from './time-scale.ts'
import { TICKS_PER_MS } from './timeline.ts'

/** Sound is made up in pieces of at most so long. */
const PIECE_MS = 10
/** Longest row of lost sound that is made up, or restored, at once. */
const MAX_LOSS_MS = 60
/** After so long without a packet nobody speaks, and nothing is made up any more; Opus renews its own noise more often. */
const IDLE_MS = 2000
/** After so long comfort noise ends: a far side that is silent on purpose tells so from time to time. */
const NOISE_MS = 30_000
/** Longest packet (RFC 3551 section 4.2), as the queue has to have room for it. */
const MAX_PACKET_MS = 200
const FRAME_MS = 20
/** Packets over which the delay is averaged. */
const DELAY_MEMORY = 64

/** What a playout is made of. */
export interface PlayoutOptions {
  readonly codecs: Codecs
  /** Of the frames that {@link Playout.read} gives. */
  readonly rate: PcmRate
  /** Of its comfort noise, another one for each far end: equal noise would add up in a mixer. See {@link ComfortNoise}. */
  readonly noiseSeed: number
  /** Bounds of the buffer's delay in ms; default 20 and 200. */
  readonly minDelayMs?: number
  readonly maxDelayMs?: number
}

/** Counters of one playout, over all of its sources. */
export interface PlayoutStats {
  /** Milliseconds of sound that were made up, or restored, in place of lost and late packets. */
  readonly concealedMs: number
  /** Packets that were not there at their time, and of these the ones restored from the next packet (Opus FEC). */
  readonly lost: number
  readonly recovered: number
  /** Packets that came after their time, and packets that came twice; both were dropped. */
  readonly late: number
  readonly duplicate: number
  /** Packets whose payload no decoder understood. */
  readonly undecodable: number
  /** From a packet's arrival to its being read: the mean of the last seconds, in ms. 0 before the first packet. */
  readonly delayMs: number
  /** What the buffer aims at, in ms. */
  readonly targetMs: number
}

/**
 * Turns the packets of one far side into an even row of frames: jitter buffer, decoder, concealment and resampling. Whatever comes, or
 * does not, {@link read} gives 20 ms each time. Sans-IO: `now` is in ms, the same clock for all methods, and never goes back.
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
  /** What the decoder writes to; a packet that does not fit is refused. */
  #decoded = new Int16Array(0)
  #noise: ComfortNoise
  #noiseLevel: number | undefined
  #noiseFrame: Int16Array
  /** Sound since the last packet, in ms. */
  #idleMs = Number.POSITIVE_INFINITY
  #recovered = 0
  #delayMs = 0
  #undecodable = 0

  constructor(options: PlayoutOptions) {
    this.#codecs = options.codecs
    this.#buffer = new JitterBuffer(options.minDelayMs, options.maxDelayMs)
    this.#noise = new ComfortNoise(options.noiseSeed)
    this.#rate = options.rate
    this.#queue = new SampleQueue(options.rate)
    this.#scale = new TimeScale(options.rate)
    this.#noiseFrame = new Int16Array((options.rate / 1000) * PIECE_MS)
    this.#resampler = new Resampler(options.rate, options.rate)
  }

  /** Of the frames that {@link read} gives, in Hz. */
  get rate(): PcmRate {
    return this.#rate
  }

  /** Takes an accepted audio packet; copies its payload. */
  receive(now: number, codec: AudioCodec, view: RtpView, packet: Uint8Array): void {
    this.#insert(now, 'audio', codec, codecFacts[codec].clockRate, view, packet)
  }

  /** Takes an accepted packet of comfort noise (RFC 3389); the silence after it is filled with noise of that level. */
  receiveNoise(now: number, view: RtpView, packet: Uint8Array): void {
    const codec = this.#codec ?? 'PCMU'
    // Its clock is that of the audio beside it.
    this.#insert(now, 'noise', codec, codecFacts[codec].clockRate, view, packet)
  }

  /** Takes notice of an accepted packet without audio (telephone-event): its sequence number is not a loss. */
  skip(now: number, view: RtpView): void {
    this.#insert(now, 'event', 'PCMU', undefined, view, none)
  }

  /**
   * Writes the next 20 ms to the beginning of `out`: `rate / 50` samples. To be called every 20 ms, on average. False: `out` is all zeros,
   * as nothing was received yet, or nothing for so long that nobody speaks.
   */
  read(now: number, out: Int16Array): boolean {
    const count = this.#rate / 50
    const queue = this.#queue
    while (queue.length < count) this.#produce(now)
    queue.read(out, count)
    return this.#isHeard
  }

  /** Changes the rate of the frames. What is buffered stays. */
  setRate(rate: PcmRate): void {
    if (rate === this.#rate) return
    const former = this.#queue
    const between = new Resampler(this.#rate, rate)
    this.#rate = rate
    this.#queue = new SampleQueue(rate)
    this.#scale = new TimeScale(rate)
    this.#noiseFrame = new Int16Array((rate / 1000) * PIECE_MS)
    this.#resampler = new Resampler(this.#decoder?.sampleRate ?? rate, rate)
    const at = this.#queue.end
    this.#queue.end += between.process(former.samples, former.start, former.end, this.#queue.samples, at)
  }

  stats(): PlayoutStats {
    const { concealed, lost, late, duplicate, targetMs } = this.#buffer
    return {
      concealedMs: Math.round(concealed / TICKS_PER_MS),
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
    return this.#idleMs < (this.#noiseLevel === undefined ? IDLE_MS : NOISE_MS)
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

  /** Puts more sound into the queue, as it is wanted at `now`; none after comfort noise, which comes with the next call. */
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
        buffer.hold(PIECE_MS * TICKS_PER_MS)
        break
    }
  }

  #play(now: number, head: Slot): void {
    const decoder = this.#decoderOf(head.codec)
    const queue = this.#queue
    this.#idleMs = 0
    this.#noiseLevel = undefined
    this.#delayMs +=
      (now + (queue.length * 1000) / this.#rate - head.arrivedAt - this.#delayMs) / DELAY_MEMORY
    const samples = decoder.decode(head.bytes, 0, head.length, this.#decoded)
    if (samples < 0) {
      this.#undecodable++
      this.#fill()
      return
    }
    this.#append(samples)
    this.#buffer.advance((samples * TICKS_PER_MS * 1000) / decoder.sampleRate, false)
    // The next packet is wanted when there is no whole frame left.
    const frames = Math.floor((queue.length * 50) / this.#rate)
    this.#scale.adjust(queue, this.#buffer.excessMs(now + frames * FRAME_MS))
  }

  #hush(head: Slot): void {
    const level = readComfortNoise(head.bytes, 0, head.length)
    if (level === undefined) this.#undecodable++
    else this.#noiseLevel = level
    this.#idleMs = 0
  }

  /** Makes up what was lost, or restores it from the packet behind it. */
  #bridge(head: Slot): void {
    const buffer = this.#buffer
    const decoder = this.#decoder
    const perTick = (decoder?.sampleRate ?? this.#rate) / (TICKS_PER_MS * 1000)
    const ticks = Math.min(buffer.missing, MAX_LOSS_MS * TICKS_PER_MS)
    const samples = Math.round(ticks * perTick)
    buffer.advance(ticks, true)
    if (!decoder) {
      this.#silence(samples)
      return
    }
    const whole = buffer.adjacent && head.codec === this.#codec && ticks === buffer.missing
    if (whole && decoder.recover?.(head.bytes, 0, head.length, samples, this.#decoded)) this.#recovered++
    else decoder.conceal(samples, this.#decoded)
    this.#append(samples)
  }

  /** Fills a silence of the far side, or what may prove to be a loss. */
  #fill(): void {
    const heard = this.#isHeard
    this.#idleMs += PIECE_MS
    if (!heard) this.#silence(this.#noiseFrame.length)
    else if (this.#noiseLevel !== undefined) {
      const at = this.#queue.reserve(this.#noiseFrame.length)
      this.#noise.fill(this.#noiseLevel, this.#noiseFrame)
      this.#queue.samples.set(this.#noiseFrame, at)
      this.#queue.end += this.#noiseFrame.length
    } else if (this.#decoder) {
      const samples = (this.#decoder.sampleRate / 1000) * PIECE_MS
      this.#decoder.conceal(samples, this.#decoded)
      this.#append(samples)
    } else this.#silence(this.#noiseFrame.length)
  }

  /** `count` samples of silence, at the rate of the frames. */
  #silence(count: number): void {
    const at = this.#queue.reserve(count)
    this.#queue.samples.fill(0, at, at + count)
    this.#queue.end += count
  }

  /** Brings the first `count` decoded samples into the queue. */
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
    this.#decoded = new Int16Array((decoder.sampleRate / 1000) * MAX_PACKET_MS)
    this.#resampler = new Resampler(decoder.sampleRate, this.#rate)
    return decoder
  }
}

const none = new Uint8Array(0)
