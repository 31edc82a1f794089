import type { PcmRate } from '../../../../media/types.ts'
import type { EngineSamples, EngineSound } from '../../engine.ts'
import type { SpeechListener, Utterance } from '../../voices/voice.ts'
import { RateConverter } from '../session/wire-audio.ts'

/** Delivers one piece, as a voice does with a text. */
export type DeliverPiece = (listener: SpeechListener) => Utterance

/** Duration of one piece, in ms: a long sound is in memory only as far as it is about to be heard. */
const pieceMs = 10_000
/** Longest duration of a sound with its repetitions, in ms. */
const maxMs = 3_600_000

/** Sound in pieces, with its repetitions. A piece is converted to the rate of the speech when it is due. */
export class SoundPieces {
  readonly #samples: Int16Array
  readonly #converter: RateConverter
  readonly #pieceLength: number
  #left: number
  #at = 0

  /** `rate`: that of the pieces, in Hz. */
  constructor({ samples, sampleRate }: EngineSamples, loops: number, rate: PcmRate) {
    const longest = (maxMs * sampleRate) / 1000
    this.#samples = samples
    this.#converter = new RateConverter(sampleRate, rate)
    this.#pieceLength = (pieceMs * sampleRate) / 1000
    this.#left = samples.length === 0 ? 0 : Math.min(longest, loops === 0 ? longest : loops * samples.length)
  }

  /** Loads a sound. Rejects if that fails. */
  static async load(sound: EngineSound, rate: PcmRate): Promise<SoundPieces> {
    return new SoundPieces(await sound.load(), sound.loops, rate)
  }

  /** Returns the next piece; undefined at the end. */
  next(): DeliverPiece | undefined {
    const length = Math.min(this.#left, this.#pieceLength)
    if (length === 0) return undefined
    const from = this.#at
    this.#left -= length
    this.#at = (from + length) % this.#samples.length
    return (listener) => this.#deliver(from, length, listener)
  }

  /** Copies samples from a position on, with repetitions. */
  #copy(from: number, length: number): Int16Array {
    const copy = new Int16Array(length)
    const first = this.#samples.subarray(from, from + length)
    copy.set(first)
    for (let at = first.length; at < length; at += this.#samples.length)
      copy.set(this.#samples.subarray(0, length - at), at)
    return copy
  }

  #deliver(from: number, length: number, listener: SpeechListener): Utterance {
    let isCancelled = false
    queueMicrotask(() => {
      if (isCancelled) return
      listener.onAudio(this.#converter.convert(this.#copy(from, length)))
      if (!isCancelled) listener.onEnd()
    })
    return {
      cancel: () => {
        isCancelled = true
      },
    }
  }
}
