import { minLevelDb, VoiceActivityDetector } from '../rtp/voice-activity.ts'

/** Rate of all audio in a mixer, in Hz. */
export const mixRate = 16_000
/** Number of samples in a frame of 20 ms. */
export const mixFrameSamples = mixRate / 50

/** Options of a mixer input. */
export interface InputOptions {
  /** Whether the others hear this input; default true. */
  readonly canSpeak?: boolean
  /** Whether this input hears the others; default true. */
  readonly canHear?: boolean
  /** Ids of the inputs, present or future, that hear this one (whisper); default all. */
  readonly audibleTo?: readonly number[]
  /** Volume in dB, limited to -60 to 20; default 0. -Infinity is mute. Clips out-of-range samples. */
  readonly volumeDb?: number
}

/**
 * Number of frames that still pass after a voice fell below the threshold: 300 ms, so that ends of words are
 * not cut off.
 */
const hangoverFrames = 15

/** One input of a mixer: audio is written by {@link put}, and the mix is in {@link output}. */
export class MixerInput {
  readonly id: number
  /**
   * 20 ms of the mix for this input; undefined is silence. May be shared between inputs. Valid until the next
   * mix.
   */
  output: Int16Array | undefined
  /**
   * Audio that this input contributes to the current frame; undefined if inactive. Used by the mixer only.
   */
  sound: Int16Array | undefined
  /** Smoothed voice level in dBov; used by {@link SpeakerDetector} only. */
  loudnessDb = minLevelDb
  #voice = new VoiceActivityDetector()
  #options: InputOptions = {}
  #onlyFor: ReadonlySet<number> | undefined
  /** Target gain, and gain at the end of the last mix. The gain changes over one frame to avoid clicks. */
  #volume = 1
  #gain = 1
  #frame: Int16Array | undefined
  #hang = 0
  #scaled: Int16Array | undefined
  #own: Int16Array | undefined

  constructor(id: number, options: InputOptions) {
    this.id = id
    this.change(options)
    this.#gain = this.#wanted
  }

  /** Replaces all options. Absent options get their default values. */
  change(options: InputOptions): void {
    const { volumeDb = 0 } = options
    this.#options = options
    this.#onlyFor = options.audibleTo && new Set(options.audibleTo)
    this.#volume =
      volumeDb === Number.NEGATIVE_INFINITY ? 0 : 10 ** (Math.max(-60, Math.min(20, volumeDb)) / 20)
  }

  get canSpeak(): boolean {
    return this.#options.canSpeak ?? true
  }

  get canHear(): boolean {
    return this.#options.canHear ?? true
  }

  /** Whether only some inputs hear this one. */
  get isWhispering(): boolean {
    return this.#onlyFor !== undefined
  }

  /** Level of the last voice in dBov, during the voice and shortly after it; else {@link minLevelDb}. */
  get levelDb(): number {
    return this.#hang > 0 ? this.#voice.levelDb : minLevelDb
  }

  /**
   * Sets the input's audio for the next mix; undefined is silence, the default. The samples are not copied
   * and must not change until the mix. Throws a RangeError unless there are {@link mixFrameSamples} samples.
   */
  put(frame: Int16Array | undefined): void {
    if (frame && frame.length !== mixFrameSamples)
      throw new RangeError(`a frame of ${mixFrameSamples} samples expected, found ${frame.length}`)
    this.#frame = frame
  }

  /** Whether `other` hears this input although it whispers. */
  whispersTo(other: MixerInput): boolean {
    return other !== this && this.#onlyFor?.has(other.id) === true
  }

  /**
   * Consumes the frame and sets {@link sound}. `gated`: only if it is voice. Called by the mixer once per
   * frame.
   */
  speak(gated: boolean): void {
    const before = this.#gain
    const gain = this.#wanted
    const frame = this.canSpeak || before > 0 ? this.#frame : undefined
    this.#frame = undefined
    this.#gain = gain
    if (this.#voice.update(frame)) this.#hang = hangoverFrames
    else if (this.#hang > 0) this.#hang--
    const isMute = before === 0 && gain === 0
    const isSilent = this.#voice.levelDb === minLevelDb || isMute || (gated && this.#hang === 0)
    this.sound = isSilent || !frame ? undefined : this.#louder(frame, before, gain)
  }

  /** Buffer for an output that only this input hears; used by the mixer. */
  get own(): Int16Array {
    this.#own ??= new Int16Array(mixFrameSamples)
    return this.#own
  }

  get #wanted(): number {
    return this.canSpeak ? this.#volume : 0
  }

  #louder(frame: Int16Array, before: number, gain: number): Int16Array {
    if (before === 1 && gain === 1) return frame
    this.#scaled ??= new Int16Array(mixFrameSamples)
    const scaled = this.#scaled
    for (let i = 0; i < mixFrameSamples; i++) {
      const sample = Math.round(frame[i]! * (before + ((gain - before) * (i + 1)) / mixFrameSamples))
      scaled[i] = Math.max(-32_768, Math.min(32_767, sample))
    }
    return scaled
  }
}
