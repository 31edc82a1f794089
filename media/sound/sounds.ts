import type { Prompt, SoundSource, Sounds } from '../types.ts'
import { ByteCache } from './cache.ts'
import { systemTimers, type Timers } from './clock.ts'
import { SoundError } from './errors.ts'
import { promptRate, toPromptSamples } from './resample.ts'
import { countryOf, ringtone } from './ringtones.ts'
import { Speech, type StartThread, startSpeechThread } from './speech.ts'
import { piecesOf, spokenText, type Voice, voiceNamed, voices } from './spoken-text.ts'
import { readWav } from './wav.ts'

/** How {@link createSounds} is set up. */
export interface SoundsOptions {
  /** The voice where a sound names none, or one that is not there. */
  readonly voice: string
  /** Bytes of speech and ringing tones to keep; default 32 MiB, about half an hour. */
  readonly cacheBytes?: number
  /** Default the machine's. */
  readonly timers?: Timers
  /** Starts the speaking thread; default the real one. */
  readonly startThread?: StartThread
}

/** Longest silence or ringing tone, in ms. */
const longestMs = 600_000

type Samples = Int16Array<SharedArrayBuffer>

/**
 * Makes the {@link Sounds}. A voice that a sound names and that is not there is spoken by the default voice: documents written for
 * other services name voices of theirs. All voices are English; `language` is not looked at. Throws when the default voice is
 * unknown.
 */
export const createSounds = (options: SoundsOptions): Sounds => {
  const voice = voiceNamed(options.voice)
  if (!voice)
    throw new SoundError(`Speech: one of ${voices.join(', ')} expected as voice, found ${options.voice}`)
  return new Library(options, voice)
}

class Library implements Sounds {
  readonly #voice: Voice
  readonly #speech: Speech
  readonly #cache: ByteCache<Samples>
  /** Renderings under way, so that equal requests share one. Each goes when it is done. */
  readonly #pending = new Map<string, Promise<Samples>>()

  constructor(options: SoundsOptions, voice: Voice) {
    const { cacheBytes = 32 * 1024 * 1024, timers = systemTimers, startThread = startSpeechThread } = options
    this.#voice = voice
    this.#speech = new Speech(startThread, timers)
    this.#cache = new ByteCache(cacheBytes, (samples) => samples.byteLength)
  }

  async prepare(source: SoundSource): Promise<Prompt> {
    return { sampleRate: promptRate, samples: await this.#samples(source) }
  }

  async close(): Promise<void> {
    await this.#speech.close()
    this.#cache.clear()
  }

  async #samples(source: SoundSource): Promise<Samples> {
    switch (source.kind) {
      case 'wav': {
        const { samples, rate } = await readWav(source.bytes)
        return toPromptSamples(samples, rate)
      }
      case 'speech': {
        const text = spokenText(source.text)
        const voice = (source.voice && voiceNamed(source.voice)) || this.#voice
        return this.#once(`speech ${voice} ${text}`, () => this.#say(voice, text))
      }
      case 'silence':
        return new Int16Array(new SharedArrayBuffer(lengthOf(source.ms) * 2))
      case 'ringtone': {
        const { country, ms } = source
        if (ms !== undefined) lengthOf(ms)
        return this.#once(`ringtone ${countryOf(country)} ${ms ?? ''}`, async () => ringtone(country, ms))
      }
    }
  }

  // Piece by piece, so that a long text neither runs into the time limit nor keeps others waiting.
  async #say(voice: Voice, text: string): Promise<Samples> {
    const parts: Samples[] = []
    for (const piece of piecesOf(text)) parts.push(await this.#speech.say({ voice, text: piece }))
    return joined(parts)
  }

  async #once(key: string, make: () => Promise<Samples>): Promise<Samples> {
    const kept = this.#cache.get(key)
    if (kept) return kept
    const running = this.#pending.get(key)
    if (running) return running
    const made = make()
    this.#pending.set(key, made)
    try {
      const samples = await made
      this.#cache.set(key, samples)
      return samples
    } finally {
      this.#pending.delete(key)
    }
  }
}

const joined = (parts: readonly Samples[]): Samples => {
  if (parts.length === 1) return parts[0]!
  const whole = new Int16Array(new SharedArrayBuffer(parts.reduce((sum, part) => sum + part.byteLength, 0)))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Samples in `ms` milliseconds. Throws when it is negative, too long, or no number. */
const lengthOf = (ms: number): number => {
  if (!(ms >= 0 && ms <= longestMs)) throw new SoundError(`Sound: 0 to ${longestMs} ms expected, found ${ms}`)
  return Math.round((ms * promptRate) / 1000)
}
