import type { PcmRate, PrepareOptions, Prompt, SoundSource, Sounds } from '../../media/types.ts'

/** One library of sounds, and how many sounds it is making. */
interface Library {
  readonly sounds: Sounds
  making: number
  isOld: boolean
}

/**
 * Sounds that others can take the place of while calls go on: what is being made is finished by those that
 * began it.
 */
export class ChangingSounds implements Sounds {
  #present: Library
  /** Replaced ones that are still making something. */
  readonly #old = new Set<Library>()

  constructor(sounds: Sounds) {
    this.#present = { sounds, making: 0, isOld: false }
  }

  /** Makes every further sound with these. */
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
    // Its threads end by themselves; nothing waits for them.
    void library.sounds.close().catch(() => {})
  }
}
