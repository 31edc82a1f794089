import { systemClock, type Timers } from '../clock.ts'
import type { PcmRate, PrepareOptions, Prompt, SoundSource, Sounds } from '../types.ts'
import { AudioDecoder } from './audio-decoder.ts'
import type { AudioJob } from './audio-thread.ts'
import { voiceByName } from './built-in-text.ts'
import { BuiltInVoice, builtIn } from './built-in-voice.ts'
import { ByteCache } from './cache.ts'
import { Coalescer } from './coalescer.ts'
import { SoundError } from './errors.ts'
import { holdMusic } from './hold-music.ts'
import { HttpVoice, type HttpVoiceOptions, type SendRequest } from './http-voice.ts'
import { type JobOptions, JobThread, type Samples, type StartWorker, workerOf } from './job-thread.ts'
import { countryOf, ringtone } from './ringtones.ts'
import { sharedSilence } from './sample-buffers.ts'
import { SpeechFolder, type SpeechFolderOptions } from './speech-folder.ts'
import { type SpeechResult, SpeechSynthesizer } from './speech-synthesizer.ts'
import type { SpeechJob } from './speech-thread.ts'
import { type ParsedSpeech, parseSpeech } from './ssml.ts'
import { toneOf } from './tones.ts'
import { type VoiceChoice, type VoiceEntry, VoiceTable } from './voice-table.ts'

/** Source of a prepared sound: memory, folder, a concurrent request, or new. */
export type PreparedBy = 'memory' | 'folder' | 'sharing' | 'making' | 'failure'

/** Observer of {@link Sounds}, for metrics. */
export interface SoundsObserver {
  onPrepared?(kind: SoundSource['kind'], by: PreparedBy): void
  onSpeech?(engine: string, result: SpeechResult): void
}

/** Options of {@link createSounds}. */
export interface SoundsOptions {
  /** Default voice, used if a sound names no known voice: from `voices`, or built in. */
  readonly voice: string
  /** Voices by name, or by name prefix such as `polly.*`; default none. */
  readonly voices?: Readonly<Record<string, VoiceEntry>>
  /** HTTP voices; default none. */
  readonly engines?: readonly HttpVoiceOptions[]
  /** Sends their requests; required with `engines`. */
  readonly send?: SendRequest
  /** Folder that keeps speech on disk; default none. */
  readonly folder?: SpeechFolderOptions
  /** Maximum size of prompts in memory, in bytes; default 64 MiB, over an hour at 8 kHz. */
  readonly cacheBytes?: number
  /** Maximum size of audio, in bytes; default 16 MiB. */
  readonly maxAudioBytes?: number
  /** Maximum duration of audio, in seconds; default 600. */
  readonly maxAudioSeconds?: number
  readonly observer?: SoundsObserver
  /** Default {@link systemClock}. */
  readonly timers?: Timers
  /** Starts the speech thread; default a real one. */
  readonly startSpeech?: StartWorker<SpeechJob>
  /** Starts a decoding thread; default a real one. */
  readonly startAudio?: StartWorker<AudioJob>
}

/** Overhead per cached sound, so that thousands of tiny sounds count too. */
const entryBytes = 1000

/** Prepared sound. */
interface PreparedSound {
  readonly samples: Samples
  readonly warnings: readonly string[]
  /** Whether the sound may be cached; false if only the callers that wait for it may use it. */
  readonly isCacheable: boolean
  readonly by: Exclude<PreparedBy, 'failure'>
}

/**
 * Creates the {@link Sounds}. A sound that names an unknown voice uses the default voice: documents for other
 * services name their voices. Throws a {@link SoundError} if the default voice, or the engine of a voice, is
 * unknown.
 */
export const createSounds = (options: SoundsOptions): Sounds => new SoundLibrary(options)

class SoundLibrary implements Sounds {
  readonly #voices: VoiceTable
  readonly #synthesizer: SpeechSynthesizer
  readonly #decoder: AudioDecoder
  readonly #folder: SpeechFolder | undefined
  readonly #cache: ByteCache<PreparedSound>
  readonly #coalescer = new Coalescer<PreparedSound>()
  readonly #observer: SoundsObserver

  constructor(options: SoundsOptions) {
    const { voice, voices = {}, engines = [], cacheBytes = 64 * 1024 * 1024, timers = systemClock } = options
    const { folder, observer = {}, startAudio, startSpeech = workerOf('./speech-thread.ts') } = options
    this.#voices = new VoiceTable(voices, voice)
    checkEngines(voices, engines)
    this.#observer = observer
    this.#decoder = new AudioDecoder({
      timers,
      start: startAudio ?? workerOf('./audio-thread.ts'),
      maxBytes: options.maxAudioBytes,
      maxSeconds: options.maxAudioSeconds,
    })
    const thread = new JobThread({
      name: 'Speech',
      start: startSpeech,
      timers,
      maxJobMs: 10_000,
      maxWaiting: 100,
    })
    const fallback = this.#voices.choose({}).choice
    this.#synthesizer = new SpeechSynthesizer({
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
    await Promise.all([this.#synthesizer.close(), this.#decoder.close(), this.#folder?.close()])
    this.#cache.clear()
  }

  #httpVoice(options: HttpVoiceOptions, send: SendRequest | undefined) {
    if (!send) throw new SoundError(`Speech: the voice ${options.name} needs a way to send requests`)
    const engine = new HttpVoice(options, send, (bytes, rate, waiter) =>
      this.#decoder.decode(bytes, rate, waiter),
    )
    return { engine, ssml: options.ssml }
  }

  async #made(source: SoundSource, rate: PcmRate, waiter: JobOptions): Promise<PreparedSound> {
    switch (source.kind) {
      case 'audio': {
        this.#decoder.check(source.bytes)
        const key = JSON.stringify(['audio', await digestOf(source.bytes), rate])
        return this.#once(key, waiter, async (all) =>
          freshSound(await this.#decoder.decode(source.bytes, rate, all)),
        )
      }
      case 'speech':
        return this.#spoken(source, rate, waiter)
      case 'silence':
        return freshSound(sharedSilence(source.ms, rate))
      case 'tone': {
        const { frequencies, ms, levelDb } = source
        const key = JSON.stringify(['tone', frequencies, ms, levelDb, rate])
        return this.#once(key, waiter, async () => freshSound(toneOf(source, rate)))
      }
      case 'hold-music':
        return this.#once(JSON.stringify(['hold-music', rate]), waiter, async () =>
          freshSound(holdMusic(rate)),
        )
      case 'ringtone': {
        const country = countryOf(source.country)
        const key = JSON.stringify(['ringtone', country, rate])
        return this.#once(key, waiter, async () => freshSound(ringtone(country, rate)))
      }
    }
  }

  async #spoken(
    source: Extract<SoundSource, { kind: 'speech' }>,
    rate: PcmRate,
    waiter: JobOptions,
  ): Promise<PreparedSound> {
    const parsed = parseSpeech(source.text)
    const { voice: name, language, gender } = source
    const { choice, warnings } = this.#voices.choose({ name, language, gender })
    const speech = await this.#spokenBy(parsed, choice, rate, waiter)
    return { ...speech, warnings: [...parsed.warnings, ...warnings, ...speech.warnings] }
  }

  /**
   * Speaks, with the built-in voice as fallback. The fallback is cached under its own key, so that an outage
   * does not repeat it.
   */
  async #spokenBy(
    parsed: ParsedSpeech,
    choice: VoiceChoice,
    rate: PcmRate,
    waiter: JobOptions,
  ): Promise<PreparedSound> {
    const { engine, voice, language } = choice
    // Without SSML, texts that differ only in unspoken markup share one sound.
    const text = (this.#synthesizer.takesSsml(engine) && parsed.ssml) || parsed.parts
    const key = JSON.stringify(['speech', engine, voice, engine === builtIn || language, text, rate])
    const result = await this.#once(key, waiter, async (all) => {
      const kept = await this.#folder?.get(key, rate)
      if (kept) return { ...freshSound(kept), by: 'folder' }
      const speech = await this.#synthesizer.speak(
        parsed,
        choice,
        { rate, customer: all.customer },
        all.signal,
      )
      if ('failure' in speech) {
        const substitute = await this.#spokenBy(parsed, { engine: builtIn }, rate, all)
        const warning = `${speech.failure}; the built-in voice speaks instead`
        return { ...substitute, warnings: [warning], isCacheable: false }
      }
      void this.#folder?.set(key, rate, speech.samples)
      return freshSound(speech.samples)
    })
    if (result.by === 'memory') void this.#folder?.used(key)
    return result
  }

  /**
   * Returns the cached sound, or makes it once for all waiting callers. `make` receives the customer, and a
   * signal that fires when all callers have cancelled.
   */
  async #once(
    key: string,
    { customer = '', signal }: JobOptions,
    make: (all: JobOptions) => Promise<PreparedSound>,
  ): Promise<PreparedSound> {
    const kept = this.#cache.get(key)
    if (kept) return { ...kept, by: 'memory' }
    // The key includes the customer. Otherwise a caller could have to wait for a job in another customer's
    // long queue.
    const shared = JSON.stringify([customer, key])
    const isShared = this.#coalescer.has(shared)
    const fresh = await this.#coalescer.run(shared, (all) => make({ customer, signal: all }), signal)
    if (fresh.isCacheable) this.#cache.set(key, fresh)
    return isShared ? { ...fresh, by: 'sharing' } : fresh
  }
}

const freshSound = (samples: Samples): PreparedSound => ({
  samples,
  warnings: [],
  isCacheable: true,
  by: 'making',
})

/** Hashes in a system thread: sixteen megabytes take time. */
const digestOf = async (bytes: Uint8Array): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('base64')

const checkEngines = (
  voices: Readonly<Record<string, VoiceEntry>>,
  engines: readonly HttpVoiceOptions[],
): void => {
  // An engine of this name would be its own fallback, and wait for itself.
  if (engines.some(({ name }) => name === builtIn))
    throw new SoundError(`Speech: ${builtIn} is no name for an engine`)
  for (const [name, { engine, voice }] of Object.entries(voices)) {
    if (engine === builtIn && voice !== undefined && !voiceByName(voice)) {
      throw new SoundError(
        `Speech: the voice ${name} names the built-in voice ${voice}, which does not exist`,
      )
    }
    if (engine === builtIn || engines.some((each) => each.name === engine)) continue
    throw new SoundError(`Speech: the voice ${name} names the engine ${engine}, which is not configured`)
  }
}
