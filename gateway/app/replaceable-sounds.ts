import type { PcmRate, PrepareOptions, Prompt, SoundSource, Sounds } from '../../media/types.ts'

/** One library of sounds, and the number of sounds that it is preparing. */
interface Library {
  readonly sounds: Sounds
  making: number
  isOld: boolean
}

/**
 * Sounds whose library can be replaced while calls continue. The old library finishes sounds in preparation.
 */
export class ReplaceableSounds implements Sounds {
  #present: Library
  /** Replaced libraries that are still preparing sounds. */
  readonly #old = new Set<Library>()

  constructor(sounds: Sounds) {
    this.#present = { sounds, making: 0, isOld: false }
  }

  /** Uses other sounds for every further request. */
  change(sounds: Sounds): void {
    const old = this.#present
    this.#present = { sounds, making: 0, isOld: false }
    old.isOld = true
    this.#old.add(old)
    this.#closeIdle(old)
  }

  async prepare(source: SoundSource, rate?: PcmRate, options?: PrepareOptions): Promise<Prompt> {
    const library = this.#present
    library.making++
    try {
      return await library.sounds.prepare(source, rate, options)
    } finally {
      library.making--
      this.#closeIdle(library)
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const all = [this.#present, ...this.#old]
    this.#old.clear()
    await Promise.all(all.map(({ sounds }) => sounds.close()))
  }

  #closeIdle(library: Library): void {
    if (!library.isOld || library.making > 0 || !this.#old.delete(library)) return
    // The threads end in the background.
    void library.sounds.close().catch(() => {})
  }
}
