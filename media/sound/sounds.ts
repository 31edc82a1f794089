import type { PcmRate, PrepareOptions, Prompt, SoundSource, Sounds } from '../types.ts'
import type { AudioJob } from './audio-thread.ts'
import { voiceNamed } from './built-in-text.ts'
import { BuiltInVoice, builtIn } from './built-in-voice.ts'
import { ByteCache } from './cache.ts'
import { systemTimers, type Timers } from './clock.ts'
import { Decoding } from './decoding.ts'
import { SoundError } from './errors.ts'
import { quiet } from './fill.ts'
import { holdMusic } from './hold-music.ts'
import { HttpVoice, type HttpVoiceOptions, type SendRequest } from './http-voice.ts'
import { JobThread, type Samples, type StartWorker, type Waiter, workerOf } from './job-thread.ts'
import { countryOf, ringtone } from './ringtones.ts'
import { Sharing } from './sharing.ts'
import { Speaking, type SpeechResult } from './speaking.ts'
import { SpeechFolder, type SpeechFolderOptions } from './speech-folder.ts'
import type { SpeechJob } from './speech-thread.ts'
import { type Reading, readSpeech } from './ssml.ts'
import { toneOf } from './tones.ts'
import { type VoiceChoice, type VoiceEntry, VoiceTable } from './voice-table.ts'

/** How a sound was had: from memory, from the folder, together with somebody else, or by making it. */
export type PreparedBy = 'memory' | 'folder' | 'sharing' | 'making' | 'failure'

/** Told of what {@link Sounds} do. */
export interface SoundsObserver {
  onPrepared?(kind: SoundSource['kind'], by: PreparedBy): void
  onSpeech?(engine: string, result: SpeechResult): void
}

/** How {@link createSounds} is set up. */
export interface SoundsOptions {
  /** The voice where a sound names none, or one that is not there: of `voices`, or built in. */
  readonly voice: string
  /** Voices by name, or by the beginning of names such as `polly.*`; default none. */
  readonly voices?: Readonly<Record<string, VoiceEntry>>
  /** Voices behind HTTP; default none. */
  readonly engines?: readonly HttpVoiceOptions[]
  /** Sends their requests; needed where there are any. */
  readonly send?: SendRequest
  /** Keeps speech on disk; default not. */
  readonly folder?: SpeechFolderOptions
  /** Bytes of prompts to keep in memory; default 64 MiB, over an hour at 8 kHz. */
  readonly cacheBytes?: number
  /** Largest audio, in bytes; default 16 MiB. */
  readonly maxAudioBytes?: number
  /** Longest audio; default 600. */
  readonly maxAudioSeconds?: number
  readonly observer?: SoundsObserver
  /** Default the machine's. */
  readonly timers?: Timers
  /** Starts the speaking thread; default the real one. */
  readonly startSpeech?: StartWorker<SpeechJob>
  /** Starts a decoding thread; default the real one. */
  readonly startAudio?: StartWorker<AudioJob>
}

/** What a sound takes besides its samples and its key: without it, thousands that are next to nothing would count as nothing. */
const entryBytes = 1000

/** A sound that was made. */
interface Made {
  readonly samples: Samples
  readonly warnings: readonly string[]
  /** False: only for those who were waiting. */
  readonly keep: boolean
  readonly by: Exclude<PreparedBy, 'failure'>
}

/**
 * Makes the {@link Sounds}. A voice that a sound names and that is not there is spoken by the default voice: documents written for
 * other services name voices of theirs. Throws a {@link SoundError} when the default voice, or the engine of a voice, is unknown.
 */
export const createSounds = (options: SoundsOptions): Sounds => new Library(options)

class Library implements Sounds {
  readonly #voices: VoiceTable
  readonly #speaking: Speaking
  readonly #decoding: Decoding
  readonly #folder: SpeechFolder | undefined
  readonly #cache: ByteCache<Made>
  readonly #sharing = new Sharing<Made>()
  readonly #observer: SoundsObserver

  constructor(options: SoundsOptions) {
    const { voice, voices = {}, engines = [], cacheBytes = 64 * 1024 * 1024, timers = systemTimers } = options
    const { folder, observer = {}, startAudio, startSpeech = workerOf('./speech-thread.ts') } = options
    this.#voices = new VoiceTable(voices, voice)
    checkEngines(voices, engines)
    this.#observer = observer
    this.#decoding = new Decoding({
      timers,
      start: startAudio ?? workerOf('./audio-thread.ts'),
      maxBytes: options.maxAudioBytes,
      maxSeconds: options.maxAudioSeconds,
    })
    const thread = new JobThread({
      name: 'Speech',
      start: startSpeech,
      timers,
      jobMs: 10_000,
      mostWaiting: 100,
    })
    const fallback = this.#voices.choose({}).choice
    this.#speaking = new Speaking({
      builtIn: new BuiltInVoice(thread, fallback.engine === builtIn ? fallback.voice : undefined),
      engines: new Map(engines.map((engine) => [engine.name, this.#httpVoice(engine, options.send)])),
      timers,
      onResult: (engine, result) => observer.onSpeech?.(engine, result),
    })
    this.#folder = folder && new SpeechFolder(folder)
    this.#cache = new ByteCache(
      cacheBytes,
      ({ samples }, key) => samples.byteLength + key.length + entryBytes,
    )
  }

  async prepare(source: SoundSource, rate: PcmRate = 8000, options: PrepareOptions = {}): Promise<Prompt> {
    try {
      const { samples, warnings, by } = await this.#made(source, rate, options)
      this.#observer.onPrepared?.(source.kind, by)
      for (const warning of warnings) options.warn?.(warning)
      return { sampleRate: rate, samples }
    } catch (error) {
      if (!options.signal?.aborted) this.#observer.onPrepared?.(source.kind, 'failure')
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#speaking.close(), this.#decoding.close(), this.#folder?.close()])
    this.#cache.clear()
  }

  #httpVoice(options: HttpVoiceOptions, send: SendRequest | undefined) {
    if (!send) throw new SoundError(`Speech: the voice ${options.name} needs a way to send requests`)
    const engine = new HttpVoice(options, send, (bytes, rate, waiter) =>
      this.#decoding.decode(bytes, rate, waiter),
    )
    return { engine, ssml: options.ssml }
  }

  async #made(source: SoundSource, rate: PcmRate, waiter: Waiter): Promise<Made> {
    switch (source.kind) {
      case 'audio': {
        this.#decoding.check(source.bytes)
        const key = JSON.stringify(['audio', await digestOf(source.bytes), rate])
        return this.#once(key, waiter, async (all) =>
          made(await this.#decoding.decode(source.bytes, rate, all)),
        )
      }
      case 'speech':
        return this.#spoken(source, rate, waiter)
      case 'silence':
        return made(quiet(source.ms, rate))
      case 'tone': {
        const { frequencies, ms, levelDb } = source
        const key = JSON.stringify(['tone', frequencies, ms, levelDb, rate])
        return this.#once(key, waiter, async () => made(toneOf(source, rate)))
      }
      case 'hold-music':
        return this.#once(JSON.stringify(['hold-music', rate]), waiter, async () => made(holdMusic(rate)))
      case 'ringtone': {
        const country = countryOf(source.country)
        const key = JSON.stringify(['ringtone', country, rate])
        return this.#once(key, waiter, async () => made(ringtone(country, rate)))
      }
    }
  }

  async #spoken(
    source: Extract<SoundSource, { kind: 'speech' }>,
    rate: PcmRate,
    waiter: Waiter,
  ): Promise<Made> {
    const reading = readSpeech(source.text)
    const { voice: name, language, gender } = source
    const { choice, warnings } = this.#voices.choose({ name, language, gender })
    const speech = await this.#spokenBy(reading, choice, rate, waiter)
    return { ...speech, warnings: [...reading.warnings, ...warnings, ...speech.warnings] }
  }

  /** With the built-in voice when the chosen one fails: that is kept as its own, so that an outage does not make it speak all anew. */
  async #spokenBy(reading: Reading, choice: VoiceChoice, rate: PcmRate, waiter: Waiter): Promise<Made> {
    const { engine, voice, language } = choice
    // What differs only in markup that is not spoken is one sound.
    const text = (this.#speaking.takesSsml(engine) && reading.ssml) || reading.parts
    const key = JSON.stringify(['speech', engine, voice, engine === builtIn || language, text, rate])
    const result = await this.#once(key, waiter, async (all) => {
      const kept = await this.#folder?.get(key, rate)
      if (kept) return { ...made(kept), by: 'folder' }
      const speech = await this.#speaking.speak(reading, choice, { rate, customer: all.customer }, all.signal)
      if ('failure' in speech) {
        const substitute = await this.#spokenBy(reading, { engine: builtIn }, rate, all)
        const warning = `${speech.failure}; the built-in voice speaks instead`
        return { ...substitute, warnings: [warning], keep: false }
      }
      void this.#folder?.set(key, rate, speech.samples)
      return made(speech.samples)
    })
    if (result.by === 'memory') void this.#folder?.used(key)
    return result
  }

  /** `make` is told for whom: this customer, until all of those have given up who wait for the same. */
  async #once(
    key: string,
    { customer = '', signal }: Waiter,
    make: (all: Waiter) => Promise<Made>,
  ): Promise<Made> {
    const kept = this.#cache.get(key)
    if (kept) return { ...kept, by: 'memory' }
    // Nobody is to wait for it in the turn of another customer, who may have a hundred others before it.
    const shared = JSON.stringify([customer, key])
    const isShared = this.#sharing.has(shared)
    const fresh = await this.#sharing.run(shared, (all) => make({ customer, signal: all }), signal)
    if (fresh.keep) this.#cache.set(key, fresh)
    return isShared ? { ...fresh, by: 'sharing' } : fresh
  }
}

const made = (samples: Samples): Made => ({ samples, warnings: [], keep: true, by: 'making' })

/** In the machine's pool of threads: sixteen megabytes take their time. */
const digestOf = async (bytes: Uint8Array): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('base64')

const checkEngines = (
  voices: Readonly<Record<string, VoiceEntry>>,
  engines: readonly HttpVoiceOptions[],
): void => {
  // Its failure would be waited for by itself.
  if (engines.some(({ name }) => name === builtIn))
    throw new SoundError(`Speech: ${builtIn} is no name for an engine`)
  for (const [name, { engine, voice }] of Object.entries(voices)) {
    if (engine === builtIn && voice !== undefined && !voiceNamed(voice)) {
      throw new SoundError(`Speech: the voice ${name} names the built-in voice ${voice}, which is not there`)
    }
    if (engine === builtIn || engines.some((each) => each.name === engine)) continue
    throw new SoundError(`Speech: the voice ${name} names the engine ${engine}, which is not there`)
  }
}
