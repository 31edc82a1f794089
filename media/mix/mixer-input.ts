import { framesPerSecond, RateAdapter } from '../rtp/rate-adapter.ts'
import { minLevelDb, VoiceActivityDetector } from '../rtp/voice-activity.ts'
import type { PcmRate, Talk } from '../types.ts'
import { TalkDetector } from './talk-detector.ts'

/** Default rate of a mixer, in Hz. */
export const defaultMixRate: PcmRate = 16_000

/** Options of a mixer input. */
export interface InputOptions {
  /** Whether the others hear this input; default true. */
  readonly canSpeak?: boolean
  /** Whether this input hears the others; default true. */
  readonly canHear?: boolean
  /** Ids of the inputs, present or future, that hear this one (whisper); default all. */
  readonly audibleTo?: readonly number[]
  /** Ids of the inputs, present or future, that do not hear this one; default none. */
  readonly inaudibleTo?: readonly number[]
  /** Whether the audio is a voice; default true. Else it always passes, and the input never talks. */
  readonly isVoice?: boolean
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
  /** Whether {@link output} is the mix that all silent inputs hear; used by the mixer. */
  hearsTotal = false
  /**
   * Audio that this input contributes to the current frame; undefined if inactive. Used by the mixer only.
   */
  sound: Int16Array | undefined
  /** Smoothed voice level in dBov; used by {@link SpeakerDetector} only. */
  loudnessDb = minLevelDb
  readonly #rate: PcmRate
  #voice = new VoiceActivityDetector()
  #talk = new TalkDetector()
  #options: InputOptions = {}
  #onlyFor: ReadonlySet<number> | undefined
  #notFor: ReadonlySet<number> | undefined
  /** Target gain, and gain at the end of the last mix. The gain changes over one frame to avoid clicks. */
  #volume = 1
  #gain = 1
  #frame: Int16Array | undefined
  #frameRate: PcmRate
  #adapter = new RateAdapter()
  #hang = 0
  #scaled: Int16Array | undefined
  #own: Int16Array | undefined

  /** `rate` of the mix. */
  constructor(id: number, options: InputOptions, rate: PcmRate) {
    this.id = id
    this.#rate = rate
    this.#frameRate = rate
    this.change(options)
    this.#gain = this.#wanted
  }

  /** Replaces all options. Absent options get their default values. */
  change(options: InputOptions): void {
    const { volumeDb = 0 } = options
    this.#options = options
    this.#onlyFor = options.audibleTo && new Set(options.audibleTo)
    this.#notFor = options.inaudibleTo && new Set(options.inaudibleTo)
    this.#volume =
      volumeDb === Number.NEGATIVE_INFINITY ? 0 : 10 ** (Math.max(-60, Math.min(20, volumeDb)) / 20)
  }

  get canSpeak(): boolean {
    return this.#options.canSpeak ?? true
  }

  get canHear(): boolean {
    return this.#options.canHear ?? true
  }

  get isVoice(): boolean {
    return this.#options.isVoice ?? true
  }

  /** Whether some inputs do not hear this one. */
  get isWithheld(): boolean {
    return this.#notFor !== undefined
  }

  /** Whether only some inputs hear this one. */
  get isWhispering(): boolean {
    return this.#onlyFor !== undefined
  }

  /** Whether the input talks; see {@link TalkDetector}. `silent` while it is muted or whispers. */
  get talk(): Talk {
    return this.#talk.talk
  }

  /** Level of the last voice in dBov, during the voice and shortly after it; else {@link minLevelDb}. */
  get levelDb(): number {
    return this.#hang > 0 ? this.#voice.levelDb : minLevelDb
  }

  /**
   * Sets the input's audio for the next mix; undefined is silence, the default. `rate` is that of the mix by
   * default; audio of another rate is only converted while it is mixed. The samples are not copied and must
   * not change until the mix. Throws a RangeError unless there are 20 ms of samples.
   */
  put(frame: Int16Array | undefined, rate = this.#rate): void {
    const expected = rate / framesPerSecond
    if (frame && frame.length !== expected)
      throw new RangeError(`a frame of ${expected} samples expected, found ${frame.length}`)
    this.#frame = frame
    if (frame) this.#frameRate = rate
  }

  /** Whether `other` hears this input although it whispers. */
  whispersTo(other: MixerInput): boolean {
    return other !== this && this.#onlyFor?.has(other.id) === true
  }

  /** Whether `other` does not hear this input. */
  isWithheldFrom(other: MixerInput): boolean {
    return other !== this && this.#notFor?.has(other.id) === true
  }

  /**
   * Consumes the frame and sets {@link sound}. `gated`: a voice passes only while it speaks. Called by the
   * mixer once per frame.
   */
  speak(gated: boolean): void {
    const before = this.#gain
    const gain = this.#wanted
    const frame = this.canSpeak || before > 0 ? this.#frame : undefined
    this.#frame = undefined
    this.#gain = gain
    if (this.#voice.update(frame)) this.#hang = hangoverFrames
    else if (this.#hang > 0) this.#hang--
    if (this.canSpeak && !this.isWhispering && this.isVoice) this.#talk.update(this.#voice.levelDb)
    else this.#talk.stop()
    const isMute = before === 0 && gain === 0
    const isSilent =
      this.#voice.levelDb === minLevelDb || isMute || (gated && this.isVoice && this.#hang === 0)
    const heard = this.#adapter.convert(isSilent ? undefined : frame, this.#frameRate, this.#rate)
    this.sound = heard && !isMute ? this.#louder(heard, before, gain) : undefined
  }

  /** Buffer for an output that only this input hears; used by the mixer. */
  get own(): Int16Array {
    this.#own ??= new Int16Array(this.#rate / framesPerSecond)
    return this.#own
  }

  get #wanted(): number {
    return this.canSpeak ? this.#volume : 0
  }

  #louder(frame: Int16Array, before: number, gain: number): Int16Array {
    if (before === 1 && gain === 1) return frame
    this.#scaled ??= new Int16Array(frame.length)
    const scaled = this.#scaled
    const { length } = frame
    for (let i = 0; i < length; i++) {
      const sample = Math.round(frame[i]! * (before + ((gain - before) * (i + 1)) / length))
      scaled[i] = Math.max(-32_768, Math.min(32_767, sample))
    }
    return scaled
  }
}
