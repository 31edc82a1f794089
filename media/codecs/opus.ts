import {
  Application,
  Bandwidth,
  createDecoder,
  createEncoder,
  type DecodeOptions,
  type EncodeOptions,
  type OpusDecoderHandle,
  type OpusEncoderHandle,
  Signal,
} from 'libopus-wasm'
import type { OpusPreferences, PcmRate } from '../types.ts'
import { packetMs } from './codec-info.ts'
import { carriesFec } from './opus-packet.ts'
import { Spares } from './spares.ts'
import type { Decoder, Encoder, EncoderOptions } from './types.ts'

/** Spare handles of each kind and rate; a new call takes one of each. */
const spareCount = 4
/** Complexity of encoding, of 10: twice as fast as the maximum without an audible difference in speech. */
const encoderComplexity = 5
/** The same for a file, whose bit rate leaves less to search for. */
const fileComplexity = 3
/** Bit rate of a file. */
const fileBitrate = 48_000
/** Packet loss that forward error correction is tuned for. */
const expectedLossPercent = 10
/** Maximum frame length (RFC 6716 section 3.4). The rates used here need a fifth of it. */
const maxFrameBytes = 1275
/** Maximum length of a packet that DTX omits; receivers take such a packet for more of the silence before. */
const dtxBytes = 2
/** Maximum time between two packets in DTX, in ms; libopus alone needs one packet more. */
const maxDtxGapMs = 400
/** Maximum length of one concealment (RFC 6716 section 2.1.4: 120 ms), and the step of its length. */
const maxConcealMs = 120
const concealStepMs = 2.5

const rates: readonly PcmRate[] = [8000, 16000, 48000]

/** Bandwidths by the playback rates that they suit (RFC 7587 section 3.1.1), with the bitrates for speech. */
const bandwidths = [
  { rate: 8000, bandwidth: Bandwidth.Narrowband, bitrate: 16_000 },
  { rate: 12_000, bandwidth: Bandwidth.Mediumband, bitrate: 20_000 },
  { rate: 16_000, bandwidth: Bandwidth.Wideband, bitrate: 24_000 },
  { rate: 24_000, bandwidth: Bandwidth.Superwideband, bitrate: 28_000 },
  { rate: 48_000, bandwidth: Bandwidth.Fullband, bitrate: 32_000 },
] as const
const minBitrate = 6000

/** Factory of Opus decoders and encoders (RFC 6716, RFC 7587), by libopus in WebAssembly. */
export class Opus {
  #decoders = new Map<PcmRate, Spares<OpusDecoderHandle>>()
  #encoders = new Map<PcmRate, Spares<OpusEncoderHandle>>()

  /** Resolves when decoders and encoders are available. */
  static async load(): Promise<Opus> {
    const opus = new Opus()
    for (const rate of rates) {
      const decoders = new Spares(() => createDecoder({ sampleRate: rate, channels: 1 }), spareCount)
      const encoders = new Spares(() => createEncoder({ ...encoderBasis, sampleRate: rate }), spareCount)
      await decoders.fill()
      await encoders.fill()
      opus.#decoders.set(rate, decoders)
      opus.#encoders.set(rate, encoders)
    }
    return opus
  }

  decoder(rate: PcmRate): Decoder {
    return new OpusDecoder(this.#decoders.get(rate)!, rate)
  }

  encoder(options: EncoderOptions): Encoder {
    const rate = options.sampleRate ?? 48_000
    return new OpusEncoder(this.#encoders.get(rate)!, rate, options)
  }
}

const encoderBasis = {
  channels: 1,
  application: Application.Voip,
  complexity: encoderComplexity,
  signal: Signal.Auto,
} as const

/** Applies the far end's preferences (RFC 7587 section 6.1). */
const configure = (handle: OpusEncoderHandle, rate: PcmRate, wishes: OpusPreferences): void => {
  const useful = Math.min(rate, wishes.maxPlaybackRate ?? rate)
  const { bandwidth, bitrate } = bandwidths.find((entry) => entry.rate >= useful)!
  handle.setMaxBandwidth(bandwidth)
  handle.setBitrate(Math.max(minBitrate, Math.min(bitrate, wishes.bitrate ?? bitrate)))
  handle.setVbr(wishes.cbr !== true)
  handle.setDtx(wishes.dtx === true)
  handle.setFec(wishes.fec === true)
  handle.setPacketLossPercent(wishes.fec ? expectedLossPercent : 0)
}

/** Avoids the speech coder of libopus, which takes most of the time and gains nothing at this bit rate. */
const configureForFile = (handle: OpusEncoderHandle): void => {
  handle.setMaxBandwidth(Bandwidth.Fullband)
  handle.setSignal(Signal.Music)
  handle.setComplexity(fileComplexity)
  handle.setBitrate(fileBitrate)
}

class OpusEncoder implements Encoder {
  readonly sampleRate: PcmRate
  readonly frameSamples: number
  readonly maxBytes = maxFrameBytes
  #hasDtx: boolean
  /** Number of packets that DTX may omit one after the other, and has omitted. */
  #maxOmitted: number
  #omitted = 0
  #options: EncodeOptions
  #handle: OpusEncoderHandle | undefined
  #isClosed = false

  constructor(spares: Spares<OpusEncoderHandle>, rate: PcmRate, options: EncoderOptions) {
    const isFile = options.opusFor === 'file'
    const wishes = isFile ? {} : (options.opus ?? {})
    this.sampleRate = rate
    this.frameSamples = (rate / 1000) * packetMs('opus', options.ptimeMs)
    this.#hasDtx = wishes.dtx === true
    this.#maxOmitted = Math.floor(maxDtxGapMs / packetMs('opus', options.ptimeMs)) - 1
    this.#options = { frameSize: this.frameSamples, maxPacketBytes: maxFrameBytes }
    spares.take((handle) => {
      if (this.#isClosed) return handle.free()
      configure(handle, rate, wishes)
      if (isFile) configureForFile(handle)
      this.#handle = handle
    })
  }

  encode(samples: Int16Array, from: number, out: Uint8Array, at: number): number {
    const count = this.frameSamples
    const frame = from === 0 && samples.length === count ? samples : samples.subarray(from, from + count)
    const packet = this.#handle?.encode(frame, this.#options)
    if (!packet) return 0
    const isOmitted = this.#hasDtx && packet.length <= dtxBytes && this.#omitted < this.#maxOmitted
    this.#omitted = isOmitted ? this.#omitted + 1 : 0
    if (isOmitted) return 0
    out.set(packet, at)
    return packet.length
  }

  close(): void {
    this.#isClosed = true
    this.#handle?.free()
    this.#handle = undefined
  }
}

class OpusDecoder implements Decoder {
  readonly sampleRate: PcmRate
  #handle: OpusDecoderHandle | undefined
  #isClosed = false

  constructor(spares: Spares<OpusDecoderHandle>, rate: PcmRate) {
    this.sampleRate = rate
    spares.take((handle) => {
      if (this.#isClosed) handle.free()
      else this.#handle = handle
    })
  }

  decode(packet: Uint8Array, start: number, end: number, out: Int16Array): number {
    return this.#run(start < end ? packet.subarray(start, end) : undefined, undefined, out)
  }

  conceal(samples: number, out: Int16Array): void {
    const step = (this.sampleRate / 1000) * concealStepMs
    const frameSize = Math.min(Math.ceil(samples / step) * step, (this.sampleRate / 1000) * maxConcealMs)
    const made = this.#run(null, { frameSize }, out)
    if (made < samples) out.fill(0, Math.max(0, made), samples)
  }

  recover(packet: Uint8Array, start: number, end: number, samples: number, out: Int16Array): boolean {
    const step = (this.sampleRate / 1000) * concealStepMs
    if (samples % step !== 0 || !carriesFec(packet, start, end)) return false
    const options = { decodeFec: true, frameSize: samples }
    return this.#run(packet.subarray(start, end), options, out) === samples
  }

  close(): void {
    this.#isClosed = true
    this.#handle?.free()
    this.#handle = undefined
  }

  /**
   * Returns the number of samples written, as many as fit if concealment rounded up; -1 for no packet or
   * invalid Opus.
   */
  #run(packet: Uint8Array | null | undefined, options: DecodeOptions | undefined, out: Int16Array): number {
    if (packet === undefined || !this.#handle) return -1
    try {
      const samples = this.#handle.decode(packet, options)
      if (samples.length <= out.length) {
        out.set(samples)
        return samples.length
      }
      if (packet !== null) return -1
      out.set(samples.subarray(0, out.length))
      return out.length
    } catch {
      return -1
    }
  }
}
