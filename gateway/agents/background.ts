import type { CallAgent } from '../../handlers/verbs.ts'
import type { Prompt, Tap } from '../../media/types.ts'

/** Sound behind a conversation, by its URL. */
type BehindSound = Parameters<CallAgent['background']>[0]

/** Fetches and decodes a sound. Rejects if that fails. */
export type LoadSound = (url: string, signal: AbortSignal) => Promise<Prompt>

/** Sound behind one conversation: plays on its taps, which may change. */
export class AgentBackground {
  readonly #load: LoadSound
  readonly #onFailure: (error: unknown) => void
  #tap: Tap | undefined
  /** Present sound, while it is loading and afterwards. */
  #sound: NonNullable<BehindSound> | undefined
  #prompt: Prompt | undefined
  #loading = new AbortController()
  #isOver = false

  /** `onFailure` receives the error of a sound that could not be loaded. */
  constructor(load: LoadSound, onFailure: (error: unknown) => void) {
    this.#load = load
    this.#onFailure = onFailure
  }

  /** Goes on with another tap. */
  use(tap: Tap): void {
    this.#tap = tap
    if (this.#prompt) this.#begin()
  }

  /** Plays a sound in place of the present one; undefined ends that one. */
  play(sound: BehindSound): void {
    if (this.#isOver) return
    this.#loading.abort()
    this.#sound = sound
    this.#prompt = undefined
    if (!sound) {
      this.#tap?.background(undefined)
      return
    }
    this.#loading = new AbortController()
    void this.#prepare(sound, this.#loading.signal)
  }

  /** Ends the sound with its conversation. */
  close(): void {
    this.play(undefined)
    this.#isOver = true
  }

  /** Loads a sound. The present one plays until then, also if it fails. */
  async #prepare({ url }: NonNullable<BehindSound>, signal: AbortSignal): Promise<void> {
    try {
      const prompt = await this.#load(url, signal)
      if (signal.aborted) return
      this.#prompt = prompt
      this.#begin()
    } catch (error) {
      if (!signal.aborted) this.#onFailure(error)
    }
  }

  #begin(): void {
    const { volumeDb = 0, loops } = this.#sound ?? {}
    if (this.#prompt)
      this.#tap?.background({ ...this.#prompt, volumeDb, ...(loops !== undefined && { loops }) })
  }
}
