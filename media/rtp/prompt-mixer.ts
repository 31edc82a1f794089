import type { PcmRate } from '../types.ts'
import type { Background } from './background.ts'
import { PromptSource } from './prompt-source.ts'
import type { SpeechQueue } from './speech-queue.ts'

/** Called when the last frame of a sound was sent. */
export type PlayedListener = (play: number) => void

/**
 * Local audio of one port, in order of precedence: a cue (such as the beep before a recording), the prompt,
 * and speech of a tap. Works in frames of 20 ms; interrupted audio fades before other audio starts. The
 * background of a tap is mixed into speech and silence.
 */
export class PromptMixer {
  #onPlayed: PlayedListener
  #cue: { readonly source: PromptSource; readonly done: () => void } | undefined
  #playing: { readonly id: number; readonly source: PromptSource } | undefined
  #fading: PromptSource | undefined
  #queues: SpeechQueue[] = []
  #backgrounds: Background[] = []
  /** Whether other ports are joined: the background then sounds only under speech. */
  isJoined = false
  /** Whether the last frame was a cue or a prompt. */
  #isPrompt = false
  /** Last frame for which {@link compose} returned a source. */
  frame: Int16Array = new Int16Array(0)

  constructor(onPlayed: PlayedListener) {
    this.#onPlayed = onPlayed
  }

  /** Whether audio is playing, which suppresses joined audio. */
  get isPlaying(): boolean {
    if (this.#playing?.source.isAudible || this.#cue || this.#fading) return true
    for (let i = 0; i < this.#queues.length; i++) if (this.#queues[i]!.isAudible) return true
    return false
  }

  /** Whether {@link compose} must be called. */
  get isWaiting(): boolean {
    const playing = this.#playing?.source
    if (this.#cue || this.#fading || playing?.isAudible || playing?.hasEnded) return true
    for (let i = 0; i < this.#queues.length; i++) if (this.#queues[i]!.isWaiting) return true
    return !this.isJoined && this.#backgrounds.some(({ isOn }) => isOn)
  }

  /** Plays a sound in place of the current one. `loop` 0 means endless. */
  play(id: number, samples: Int16Array, rate: PcmRate, loop: number, volumeDb: number): void {
    this.#drop()
    this.#playing = { id, source: new PromptSource(samples, rate, loop, volumeDb) }
  }

  /** Stops the sound if it is current. */
  stop(id: number): void {
    if (this.#playing?.id === id) this.#drop()
  }

  pause(id: number): void {
    if (this.#playing?.id === id) this.#playing.source.pause()
  }

  resume(id: number): void {
    if (this.#playing?.id === id) this.#playing.source.resume()
  }

  setVolume(id: number, db: number): void {
    if (this.#playing?.id === id) this.#playing.source.setVolume(db)
  }

  /**
   * Plays `samples` once before anything else; `done` is called when the last frame was sent, or another cue
   * replaced it.
   */
  cue(samples: Int16Array, rate: PcmRate, done: () => void): void {
    const before = this.#cue
    this.#cue = { source: new PromptSource(samples, rate, 1, 0), done }
    before?.done()
  }

  /** Adds the speech of a tap, and the sound under it. */
  addQueue(queue: SpeechQueue, background?: Background): void {
    this.#queues.push(queue)
    if (background) this.#backgrounds.push(background)
  }

  removeQueue(queue: SpeechQueue, background?: Background): void {
    this.#queues = this.#queues.filter((each) => each !== queue)
    this.#backgrounds = this.#backgrounds.filter((each) => each !== background)
  }

  /**
   * Composes the next {@link frame} at `rate`. Returns its source; undefined if there is no audio. `isSent`:
   * the frame will be sent; speech counts as heard only then.
   */
  compose(rate: PcmRate, isSent = true): object | undefined {
    let source = this.#local(rate, isSent)
    // Joined audio has precedence, and follows at once.
    const isCovered = this.isJoined && !source
    for (let i = 0; i < this.#backgrounds.length; i++) {
      const background = this.#backgrounds[i]!
      if (!background.isOn && !background.isAlone) continue
      const frame = background.mix(source && this.frame, rate, isCovered || this.#isPrompt)
      if (!frame || isCovered) continue
      this.frame = frame
      // One source for all of it: the numbering goes on when speech begins and ends.
      source = background
    }
    return source
  }

  /** Composes the next {@link frame} without backgrounds. */
  #local(rate: PcmRate, isSent: boolean): object | undefined {
    const source = this.#fading ?? this.#cue?.source ?? this.#prompt()
    this.#isPrompt = source !== undefined && !source.hasEnded
    if (source && this.#isPrompt) {
      this.frame = source.take(rate)
      if (this.#fading?.hasEnded) this.#fading = undefined
      this.#interruptQueues(0)
      return source
    }
    for (let i = 0; i < this.#queues.length; i++) {
      const frame = this.#queues[i]!.take(rate, isSent)
      if (!frame) continue
      this.frame = frame
      this.#interruptQueues(i + 1)
      return this.#queues[i]
    }
    return undefined
  }

  /** Must be called after the frame was sent: reports ended sounds. */
  finish(): void {
    const cue = this.#cue
    if (cue?.source.hasEnded) {
      this.#cue = undefined
      cue.done()
    }
    const playing = this.#playing
    if (!playing?.source.hasEnded) return
    this.#playing = undefined
    this.#onPlayed(playing.id)
  }

  /** Cancels everything; reports only the cue as ended. */
  clear(): void {
    this.#playing = undefined
    this.#fading = undefined
    this.#queues = []
    this.#backgrounds = []
    const cue = this.#cue
    this.#cue = undefined
    cue?.done()
  }

  /** Tells the queues from `first` that other audio has precedence. */
  #interruptQueues(first: number): void {
    for (let i = first; i < this.#queues.length; i++) this.#queues[i]!.interrupt()
  }

  #prompt(): PromptSource | undefined {
    const source = this.#playing?.source
    return source?.isAudible ? source : undefined
  }

  #drop(): void {
    const source = this.#playing?.source
    this.#playing = undefined
    if (!source) return
    source.stop()
    if (!source.hasEnded) this.#fading = source
  }
}
