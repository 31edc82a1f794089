/** Speech of callers: texts in the built-in voice. */
import { createSounds } from '../../media/sound/sounds.ts'
import type { Sounds } from '../../media/types.ts'

/** Voice of the callers of a test. */
export class SpokenWords {
  readonly #sounds: Sounds = createSounds({ voice: 'awb' })

  /** Returns a text as samples at 8 kHz, in whole packets of 20 ms. */
  async of(text: string): Promise<Int16Array> {
    const { samples } = await this.#sounds.prepare({ kind: 'speech', text }, 8000)
    const whole = new Int16Array(Math.ceil(samples.length / 160) * 160)
    whole.set(samples)
    return whole
  }

  close(): Promise<void> {
    return this.#sounds.close()
  }
}
