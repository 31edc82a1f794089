import type { Codecs } from '../codecs/types.ts'
import type { FarEnd, PcmRate } from '../types.ts'
import { encodedRate, packetizerFor, silentFrame } from './encoding.ts'
import type { Packetizer } from './packetizer.ts'
import { framesPerSecond, RateAdapter } from './rate-adapter.ts'
import { levelDb } from './voice-activity.ts'

/** Number of earlier frames that {@link SharedAudio} keeps: enough for an encoder to follow the audio. */
const keptFrames = 5
/** Level up to which the audio counts as quiet, in dBov. */
const quietDb = -45

/** Encoding of a {@link SharedAudio} in one format. Valid for the current frame. */
export interface SharedEncoding {
  /** The frame at the encoder's rate. */
  readonly frame: Int16Array
  /** Payload of the packet, in the first {@link bytes}. */
  readonly payload: Buffer
  /** Length of the payload; 0 if nothing must be sent. */
  readonly bytes: number
  /** Duration of the packet, in units of the codec's clock. */
  readonly units: number
}

class Encoding implements SharedEncoding {
  frame: Int16Array
  readonly payload: Buffer
  bytes = 0
  /** Number of the frame that was encoded last. */
  at = 0
  #packetizer: Packetizer
  #adapter = new RateAdapter()
  #from: PcmRate

  constructor(packetizer: Packetizer, from: PcmRate) {
    this.#packetizer = packetizer
    this.#from = from
    this.payload = Buffer.alloc(packetizer.maxBytes)
    this.frame = silentFrame(packetizer.rate)
  }

  get units(): number {
    return this.#packetizer.units
  }

  encode(frame: Int16Array | undefined): void {
    const packetizer = this.#packetizer
    const { rate } = packetizer
    this.frame = this.#adapter.convert(frame, this.#from, rate) ?? silentFrame(rate)
    packetizer.push(this.frame)
    this.bytes = packetizer.take(this.payload, 0)
  }

  close(): void {
    this.#packetizer.close()
  }
}

/**
 * Audio that several far ends hear at the same time: each format is encoded once per frame, for all of them.
 * An encoding ends when a frame passes in which no sender used it.
 */
export class SharedAudio {
  readonly rate: PcmRate
  /** The current frame; undefined is silence. */
  frame: Int16Array | undefined
  #encodings = new Map<string, Encoding>()
  /** Copies of the last frames as a ring, with the current one at {@link #newest}. */
  #kept: readonly Int16Array[]
  #newest = 0
  #count = 0

  constructor(rate: PcmRate) {
    this.rate = rate
    this.#kept = Array.from({ length: keptFrames + 1 }, () => new Int16Array(rate / framesPerSecond))
  }

  /** Number of formats that are encoded. */
  get encodings(): number {
    return this.#encodings.size
  }

  /** Whether the current frame is so quiet that a change of the encoder is inaudible. */
  get isQuiet(): boolean {
    return !this.frame || levelDb(this.frame) <= quietDb
  }

  /** Sets the next 20 ms; undefined is silence. The samples must not change until the next call. */
  next(frame: Int16Array | undefined): void {
    for (const [format, encoding] of this.#encodings) {
      if (encoding.at === this.#count) continue
      encoding.close()
      this.#encodings.delete(format)
    }
    this.#count++
    this.frame = frame
    this.#newest = (this.#newest + 1) % this.#kept.length
    const kept = this.#kept[this.#newest]!
    if (frame) kept.set(frame)
    else kept.fill(0)
  }

  /** Passes the frames before the current one to `use`, the oldest first. */
  recall(use: (frame: Int16Array) => void): void {
    const kept = this.#kept
    for (let i = 1; i < kept.length; i++) use(kept[(this.#newest + i) % kept.length]!)
  }

  /** Returns the current frame in the format of `far`; `format` is its {@link sharedFormat}. */
  encoding(format: string, codecs: Codecs, far: FarEnd): SharedEncoding {
    let encoding = this.#encodings.get(format)
    if (!encoding) {
      const made = new Encoding(packetizerFor(codecs, far, encodedRate(far.codec, this.rate)), this.rate)
      this.recall((frame) => made.encode(frame))
      this.#encodings.set(format, made)
      encoding = made
    }
    if (encoding.at !== this.#count) {
      encoding.encode(this.frame)
      encoding.at = this.#count
    }
    return encoding
  }

  /** Ends all encodings. */
  close(): void {
    for (const encoding of this.#encodings.values()) encoding.close()
    this.#encodings.clear()
  }
}
