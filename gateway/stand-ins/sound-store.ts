import { readFile } from 'node:fs/promises'
import { Resampler } from '../../media/codecs/resampler.ts'
import { createSounds } from '../../media/sound/sounds.ts'
import type { PcmRate, SoundSource, Sounds } from '../../media/types.ts'
import type { ScriptedSound } from './script-types.ts'

/** Sample rates of the stand-ins, in Hz. */
export const soundRates = [8000, 16_000, 24_000, 48_000] as const

/** Sample rate of a stand-in, in Hz. */
export type SoundRate = (typeof soundRates)[number]

/** Returns a rate if the stand-ins have it. */
export const soundRateOf = (rate: number): SoundRate | undefined => soundRates.find((each) => each === rate)

/** Audio of the stand-ins: the built-in voice, files, tones and silence. */
export class SoundStore {
  #sounds: Sounds | undefined

  /** Returns the samples of a sound; `text` is what the voice speaks. Rejects with a descriptive Error. */
  async samples(sound: ScriptedSound, text: string, rate: SoundRate): Promise<Int16Array> {
    if (sound.kind === 'silence') return new Int16Array((sound.ms * rate) / 1000)
    if (sound.kind === 'speech' && text.trim() === '') return new Int16Array(0)
    const source = await sourceOf(sound, text)
    if (rate !== 24_000) return this.#prepare(source, rate)
    return resample(await this.#prepare(source, 48_000), 48_000, 24_000)
  }

  /** Decodes a file of any format that the gateway plays. Rejects with a descriptive Error. */
  decode(bytes: Uint8Array, rate: PcmRate): Promise<Int16Array> {
    return this.#prepare({ kind: 'audio', bytes }, rate)
  }

  /** Ends the thread of the voice. */
  async close(): Promise<void> {
    await this.#sounds?.close()
  }

  async #prepare(source: SoundSource, rate: PcmRate): Promise<Int16Array> {
    this.#sounds ??= createSounds({ voice: 'slt' })
    return (await this.#sounds.prepare(source, rate)).samples
  }
}

const sourceOf = async (
  sound: Exclude<ScriptedSound, { kind: 'silence' }>,
  text: string,
): Promise<SoundSource> => {
  if (sound.kind === 'tone') return { kind: 'tone', frequencies: [sound.hz], ms: sound.ms }
  if (sound.kind === 'file') return { kind: 'audio', bytes: await readFile(sound.file) }
  // Markup characters are part of the text, because engines speak plain text.
  return { kind: 'speech', text: text.replace(/[<>&]/g, ' ') }
}

const resample = (samples: Int16Array, from: SoundRate, to: SoundRate): Int16Array => {
  const out = new Int16Array(Math.ceil((samples.length * to) / from) + 1)
  const written = new Resampler(from, to).process(samples, 0, samples.length, out, 0)
  return out.subarray(0, written)
}
