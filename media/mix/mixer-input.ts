import { minLevelDb, VoiceActivityDetector } from '../rtp/voice-activity.ts'

/** Rate of everything in a mixer, in Hz. */
export const MIX_RATE = 16_000
/** Samples of one frame: 20 ms. */
export const MIX_FRAME = MIX_RATE / 50

/** What a member does in a mixer. */
export interface InputOptions {
  /** The others hear it; default true. */
  readonly talks?: boolean
  /** It hears the others; default true. */
  readonly hears?: boolean
  /** Only the members with these ids hear it (whisper), now or when they come; default all. */
  readonly onlyFor?: readonly number[]
  /** Of what it says, -60 to 20 dB, brought into that range; default 0. -Infinity is mute. What gets too loud is clipped. */
  readonly volumeDb?: number
}

/** Frames that a voice is still let through after it fell under its threshold: 300 ms, so that ends of words are not cut off. */
const HANG_FRAMES = 15

/** One member's place in a mixer: its audio goes in by {@link put}, and what it hears is in {@link output}. */
export class MixerInput {
  readonly id: number
  /** 20 ms of what it hears; undefined is silence. Seats that hear the same share it. Valid until the next mix. */
  output: Int16Array | undefined
  /** What the mixer adds up for it in this frame; undefined while it does not speak. Of use to the mixer only. */
  sound: Int16Array | undefined
  /** Smoothed level of its voice in dBov; of use to `Speakers` only. */
  loudnessDb = minLevelDb
  #voice = new VoiceActivityDetector()
  #options: InputOptions = {}
  #onlyFor: ReadonlySet<number> | undefined
  /** Of the volume; and what was in force at the end of the last mix, from where it glides over a frame, so that nothing clicks. */
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

  /** Replaces all options: what is absent has its default. */
  change(options: InputOptions): void {
    const { volumeDb = 0 } = options
    this.#options = options
    this.#onlyFor = options.onlyFor && new Set(options.onlyFor)
    this.#volume =
      volumeDb === Number.NEGATIVE_INFINITY ? 0 : 10 ** (Math.max(-60, Math.min(20, volumeDb)) / 20)
  }

  get talks(): boolean {
    return this.#options.talks ?? true
  }

  get hears(): boolean {
    return this.#options.hears ?? true
  }

  /** Whether only some hear it. */
  get whispers(): boolean {
    return this.#onlyFor !== undefined
  }

  /** Level of what it said last, in dBov, and whether that was a voice (with some time after it). */
  get levelDb(): number {
    return this.#hang > 0 ? this.#voice.levelDb : minLevelDb
  }

  /**
   * Sets what it says in the next mix; undefined is silence, as is nothing at all. The samples are not copied: they have to stay as
   * they are until then. Throws a RangeError for anything but {@link MIX_FRAME} samples.
   */
  put(frame: Int16Array | undefined): void {
    if (frame && frame.length !== MIX_FRAME)
      throw new RangeError(`a frame of ${MIX_FRAME} samples expected, found ${frame.length}`)
    this.#frame = frame
  }

  /** Whether `other` may hear it although it whispers. */
  whispersTo(other: MixerInput): boolean {
    return other !== this && this.#onlyFor?.has(other.id) === true
  }

  /** Takes what was put, and sets {@link sound}. `gated`: only where it is a voice. For the mixer, once per frame. */
  speak(gated: boolean): void {
    const before = this.#gain
    const gain = this.#wanted
    const frame = this.talks || before > 0 ? this.#frame : undefined
    this.#frame = undefined
    this.#gain = gain
    if (this.#voice.update(frame)) this.#hang = HANG_FRAMES
    else if (this.#hang > 0) this.#hang--
    const isMute = before === 0 && gain === 0
    const isSilent = this.#voice.levelDb === minLevelDb || isMute || (gated && this.#hang === 0)
    this.sound = isSilent || !frame ? undefined : this.#louder(frame, before, gain)
  }

  /** Room for an output that only this input hears; for the mixer. */
  get own(): Int16Array {
    this.#own ??= new Int16Array(MIX_FRAME)
    return this.#own
  }

  get #wanted(): number {
    return this.talks ? this.#volume : 0
  }

  #louder(frame: Int16Array, before: number, gain: number): Int16Array {
    if (before === 1 && gain === 1) return frame
    this.#scaled ??= new Int16Array(MIX_FRAME)
    const scaled = this.#scaled
    for (let i = 0; i < MIX_FRAME; i++) {
      const sample = Math.round(frame[i]! * (before + ((gain - before) * (i + 1)) / MIX_FRAME))
      scaled[i] = Math.max(-32_768, Math.min(32_767, sample))
    }
    return scaled
  }
}
