import type { CallAgent } from '../../handlers/verbs.ts'
import type { Prompt, Tap } from '../../media/types.ts'

/** Sound behind a conversation, by its URL. */
type BehindSound = Parameters<CallAgent['background']>[0]

/** Fetches and decodes a sound. Rejects if that fails. */
export type LoadSound = (url: string, signal: AbortSignal) => Promise<Prompt>

/** Sound that was asked for, while it is loading and afterwards. */
interface Layer {
  readonly sound: NonNullable<BehindSound>
  readonly loading: AbortController
  prompt?: Prompt
}

/**
 * Sounds behind one conversation: the background, and in its place the sound for the time of a function. They
 * play on the taps of the conversation, which may change.
 */
export class AgentBackground {
  readonly #load: LoadSound
  readonly #onFailure: (error: unknown) => void
  #tap: Tap | undefined
  #behind: Layer | undefined
  #meanwhile: Layer | undefined
  #isOver = false

  /** `onFailure` receives the error of a sound that could not be loaded. */
  constructor(load: LoadSound, onFailure: (error: unknown) => void) {
    this.#load = load
    this.#onFailure = onFailure
  }

  /** Goes on with another tap. */
  use(tap: Tap): void {
    this.#tap = tap
    if (this.#present) this.#begin()
  }

  /** Plays a sound in place of the present one; undefined ends that one. */
  play(sound: BehindSound): void {
    if (this.#isOver) return
    this.#behind?.loading.abort()
    this.#behind = sound && this.#open(sound)
    if (!sound && !this.#meanwhile?.prompt) this.#tap?.background(undefined)
  }

  /** Plays a sound instead of the background, until undefined comes. */
  meanwhile(sound: BehindSound): void {
    if (this.#isOver) return
    const wasHeard = this.#meanwhile?.prompt !== undefined
    this.#meanwhile?.loading.abort()
    this.#meanwhile = sound && this.#open(sound)
    if (!wasHeard) return
    if (this.#present) this.#begin()
    else this.#tap?.background(undefined)
  }

  /** Ends the sounds with their conversation. */
  close(): void {
    this.meanwhile(undefined)
    this.play(undefined)
    this.#isOver = true
  }

  #open(sound: NonNullable<BehindSound>): Layer {
    const layer: Layer = { sound, loading: new AbortController() }
    void this.#prepare(layer)
    return layer
  }

  /** Loads a sound. The present one plays until then, also if it fails. */
  async #prepare(layer: Layer): Promise<void> {
    const { signal } = layer.loading
    try {
      const prompt = await this.#load(layer.sound.url, signal)
      if (signal.aborted) return
      layer.prompt = prompt
      if (this.#present === layer) this.#begin()
    } catch (error) {
      if (!signal.aborted) this.#onFailure(error)
    }
  }

  /** Layer that is heard. */
  get #present(): Layer | undefined {
    return [this.#meanwhile, this.#behind].find((layer) => layer?.prompt)
  }

  #begin(): void {
    const { sound, prompt } = this.#present ?? {}
    if (!sound || !prompt) return
    const { volumeDb, loops } = sound
    this.#tap?.background({ ...prompt, volumeDb, ...(loops !== undefined && { loops }) })
  }
}
