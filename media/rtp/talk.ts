import type { PcmRate } from '../types.ts'
import { PromptSource } from './prompt.ts'
import type { SpeakQueue } from './speak-queue.ts'

/** Told that the last frame of that sound was sent. */
export type PlayedListener = (play: number) => void

/**
 * What is made here to be sent on one port, in this order: a cue (a tone that announces something), the prompt, what somebody outside
 * speaks. One frame of 20 ms at a time; what was interrupted fades before something else begins.
 */
export class Talk {
  #onPlayed: PlayedListener
  #cue: { readonly source: PromptSource; readonly done: () => void } | undefined
  #playing: { readonly id: number; readonly source: PromptSource } | undefined
  #fading: PromptSource | undefined
  #queues: SpeakQueue[] = []
  /** The last frame that {@link compose} gave a source for. */
  frame: Int16Array = new Int16Array(0)

  constructor(onPlayed: PlayedListener) {
    this.#onPlayed = onPlayed
  }

  /** Whether it speaks now, so that nothing else is to be heard. */
  get busy(): boolean {
    if (this.#playing?.source.speaking || this.#cue || this.#fading) return true
    for (let i = 0; i < this.#queues.length; i++) if (this.#queues[i]!.speaking) return true
    return false
  }

  /** Whether {@link compose} has to be called on. */
  get waiting(): boolean {
    const playing = this.#playing?.source
    if (this.#cue || this.#fading || playing?.speaking || playing?.ended) return true
    for (let i = 0; i < this.#queues.length; i++) if (this.#queues[i]!.queued > 0) return true
    return false
  }

  /** Plays in place of what was being played. `loop` 0 is for ever. */
  play(id: number, samples: Int16Array, rate: PcmRate, loop: number, volumeDb: number): void {
    this.#drop()
    this.#playing = { id, source: new PromptSource(samples, rate, loop, volumeDb) }
  }

  /** Stops that sound, if it is still the one; as do the next three. */
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

  /** Plays `samples` before anything else, once; `done` is called when the last frame was sent, or another cue came. */
  cue(samples: Int16Array, rate: PcmRate, done: () => void): void {
    const before = this.#cue
    this.#cue = { source: new PromptSource(samples, rate, 1, 0), done }
    before?.done()
  }

  addQueue(queue: SpeakQueue): void {
    this.#queues.push(queue)
  }

  removeQueue(queue: SpeakQueue): void {
    this.#queues = this.#queues.filter((each) => each !== queue)
  }

  /** Makes the next {@link frame}, at `rate`. Gives who speaks; undefined: nobody, and there is no frame. */
  compose(rate: PcmRate): object | undefined {
    const source = this.#fading ?? this.#cue?.source ?? this.#prompt()
    if (source && !source.ended) {
      this.frame = source.take(rate)
      if (this.#fading?.ended) this.#fading = undefined
      return source
    }
    for (let i = 0; i < this.#queues.length; i++) {
      const frame = this.#queues[i]!.take(rate)
      if (!frame) continue
      this.frame = frame
      return this.#queues[i]
    }
    return undefined
  }

  /** To be called when the frame was sent: tells of what is over. */
  finish(): void {
    const cue = this.#cue
    if (cue?.source.ended) {
      this.#cue = undefined
      cue.done()
    }
    const playing = this.#playing
    if (!playing?.source.ended) return
    this.#playing = undefined
    this.#onPlayed(playing.id)
  }

  /** Gives up all of it, untold but for the cue. */
  clear(): void {
    this.#playing = undefined
    this.#fading = undefined
    this.#queues = []
    const cue = this.#cue
    this.#cue = undefined
    cue?.done()
  }

  #prompt(): PromptSource | undefined {
    const source = this.#playing?.source
    return source?.speaking ? source : undefined
  }

  #drop(): void {
    const source = this.#playing?.source
    this.#playing = undefined
    if (!source) return
    source.stop()
    if (!source.ended) this.#fading = source
  }
}
