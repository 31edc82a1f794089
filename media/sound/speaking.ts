import type { VoiceEngine, VoiceRequest } from '../types.ts'
import { builtIn } from './built-in-voice.ts'
import type { Timers } from './clock.ts'
import { SoundBusy, TextRefused } from './errors.ts'
import { joined, silence } from './fill.ts'
import type { Samples } from './job-thread.ts'
import type { Reading } from './ssml.ts'
import type { VoiceChoice } from './voice-table.ts'

/** An engine, and whether it is given SSML. */
export interface NamedEngine {
  readonly engine: VoiceEngine
  readonly ssml: boolean
}

/** How a request for speech ended: `skipped` was not sent, because the engine had failed several times. */
export type SpeechResult = 'ok' | 'failed' | 'skipped'

/** What a {@link Speaking} works with. */
export interface SpeakingOptions {
  /** Stands by the name `built-in`, and cannot fail over. */
  readonly builtIn: VoiceEngine
  /** The others, by name. */
  readonly engines: ReadonlyMap<string, NamedEngine>
  readonly timers: Timers
  /** Told of each text, with the engine's name. */
  readonly onResult: (engine: string, result: SpeechResult) => void
}

/** Speech, or why the engine gave none: then the built-in voice is to be asked. */
export type Speech = { readonly samples: Samples } | { readonly failure: string }

/** At which rate, and for whom. */
export type SpeakFor = Pick<VoiceRequest, 'rate' | 'customer'>

/** Failures one after the other after which an engine is left alone for a while. */
const mostFailures = 3
/** How long it is left alone, in ms. */
const restMs = 30_000

/**
 * Speaks readings with the engine that was chosen. One that failed three times in a row is not asked for 30 s, so that calls do not all
 * wait for its time-out; a text that it refuses is no failure of its own, or one customer's markup would silence it for all.
 */
export class Speaking {
  readonly #options: SpeakingOptions
  readonly #failures = new Map<string, number>()
  readonly #resting = new Map<string, { cancel(): void }>()

  constructor(options: SpeakingOptions) {
    this.#options = options
  }

  /** True where an engine of this name is given SSML. */
  takesSsml(engine: string): boolean {
    return this.#options.engines.get(engine)?.ssml ?? false
  }

  /** Rejects with the built-in voice's error where that one was chosen, where too much is waiting, and when `signal` gave up. */
  async speak(
    reading: Reading,
    choice: VoiceChoice,
    wanted: SpeakFor,
    signal?: AbortSignal,
  ): Promise<Speech> {
    const { engine: name, voice, language } = choice
    const named = this.#options.engines.get(name)
    if (!named) return { samples: await this.#byBuiltIn(reading, { ...wanted, voice }, signal) }
    const how = { ...wanted, voice, language }
    return this.#attempt(name, () => this.#render(reading, named, how, signal), signal)
  }

  /** Closes the engines too. */
  async close(): Promise<void> {
    for (const timer of this.#resting.values()) timer.cancel()
    this.#resting.clear()
    const { engines, builtIn: own } = this.#options
    await Promise.all([...engines.values(), { engine: own }].map(({ engine }) => engine.close()))
  }

  /** Being given up, or having too much to decode, is no failure of the engine. */
  async #attempt(
    name: string,
    speak: () => Promise<Samples>,
    signal: AbortSignal | undefined,
  ): Promise<Speech> {
    if (this.#resting.has(name)) {
      this.#options.onResult(name, 'skipped')
      return { failure: `The voice ${name} failed several times and is not asked for now` }
    }
    try {
      const samples = await speak()
      this.#failures.delete(name)
      this.#options.onResult(name, 'ok')
      return { samples }
    } catch (error) {
      if (signal?.aborted || error instanceof SoundBusy) throw error
      this.#options.onResult(name, 'failed')
      if (!(error instanceof TextRefused)) this.#failed(name)
      return { failure: (error as Error).message }
    }
  }

  #failed(name: string): void {
    const count = (this.#failures.get(name) ?? 0) + 1
    this.#failures.set(name, count)
    if (count >= mostFailures) this.#rest(name)
  }

  #rest(name: string): void {
    this.#resting.get(name)?.cancel()
    // One more failure afterwards, and it rests again.
    this.#failures.set(name, mostFailures - 1)
    this.#resting.set(
      name,
      this.#options.timers.after(restMs, () => this.#resting.delete(name)),
    )
  }

  async #byBuiltIn(
    reading: Reading,
    how: Omit<VoiceRequest, 'text'>,
    signal: AbortSignal | undefined,
  ): Promise<Samples> {
    const named = { engine: this.#options.builtIn, ssml: false }
    try {
      const samples = await this.#render(reading, named, how, signal)
      this.#options.onResult(builtIn, 'ok')
      return samples
    } catch (error) {
      if (!signal?.aborted) this.#options.onResult(builtIn, 'failed')
      throw error
    }
  }

  async #render(
    { parts, ssml }: Reading,
    named: NamedEngine,
    how: Omit<VoiceRequest, 'text'>,
    signal: AbortSignal | undefined,
  ): Promise<Samples> {
    const { engine } = named
    if (named.ssml && ssml !== undefined) return engine.speak({ ...how, text: ssml }, signal)
    const made: Samples[] = []
    for (const part of parts) {
      if (part.kind === 'pause') made.push(silence(part.ms, how.rate))
      else made.push(await engine.speak({ ...how, text: part.text }, signal))
    }
    return joined(made)
  }
}
