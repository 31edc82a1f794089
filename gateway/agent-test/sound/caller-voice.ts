import { readFile } from 'node:fs/promises'
import { createSounds } from '../../../media/sound/sounds.ts'
import type { Sounds } from '../../../media/types.ts'
import type { Speech } from '../scenario/scenario.ts'

const frameSamples = 160

/** Voice of callers: texts in a built-in voice, and files of any format that the gateway plays. */
export class CallerVoice {
  readonly #sounds: Sounds

  /** `voice`: name of a built-in voice. */
  constructor(voice = 'awb') {
    this.#sounds = createSounds({ voice })
  }

  /** Returns a text as samples at 8 kHz, in whole packets of 20 ms. Rejects with a descriptive Error. */
  of(text: string): Promise<Int16Array> {
    return this.speech({ text })
  }

  /** Returns speech as samples at 8 kHz, in whole packets of 20 ms. Rejects with a descriptive Error. */
  async speech({ text, file }: Speech): Promise<Int16Array> {
    const source =
      file === undefined
        ? ({ kind: 'speech', text } as const)
        : ({ kind: 'audio', bytes: await readFile(file) } as const)
    const { samples } = await this.#sounds.prepare(source, 8000)
    const whole = new Int16Array(Math.ceil(samples.length / frameSamples) * frameSamples)
    whole.set(samples)
    return whole
  }

  close(): Promise<void> {
    return this.#sounds.close()
  }
}
