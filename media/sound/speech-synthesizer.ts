import type { Timers } from '../clock.ts'
import type { VoiceEngine, VoiceRequest } from '../types.ts'
import { builtIn } from './built-in-voice.ts'
import { SoundBusy, TextRejected } from './errors.ts'
import type { Samples } from './job-thread.ts'
import { blankSamples, concatSamples } from './sample-buffers.ts'
import type { ParsedSpeech } from './ssml.ts'
import type { VoiceChoice } from './voice-table.ts'

/** Engine with its SSML support. */
export interface NamedEngine {
  readonly engine: VoiceEngine
  readonly ssml: boolean
}

/** Outcome of a speech request. `skipped`: not sent, because the engine had failed several times. */
export type SpeechResult = 'ok' | 'failed' | 'skipped'

/** Collaborators of a {@link SpeechSynthesizer}. */
export interface SpeechSynthesizerDeps {
  /** Engine `built-in`, which has no fallback. */
  readonly builtIn: VoiceEngine
  /** Other engines, by name. */
  readonly engines: ReadonlyMap<string, NamedEngine>
  readonly timers: Timers
  /** Called for each text, with the engine's name. */
  readonly onResult: (engine: string, result: SpeechResult) => void
}

/** Speech, or the reason why the engine failed and the built-in voice must be used. */
export type Speech = { readonly samples: Samples } | { readonly failure: string }

/** Rate of the result, and customer. */
export type SpeechTarget = Pick<VoiceRequest, 'rate' | 'customer'>

/** Number of consecutive failures after which an engine is suspended. */
const maxFailures = 3
/** Duration of the suspension, in ms. */
const suspensionMs = 30_000

/**
 * Speaks texts with the selected engine. An engine is suspended for 30 s after three consecutive failures, so
 * that calls do not wait for its time-out. A rejected text does not count: one customer's markup must not
 * suspend the engine for all.
 */
export class SpeechSynthesizer {
  readonly #options: SpeechSynthesizerDeps
  readonly #failures = new Map<string, number>()
  readonly #suspended = new Map<string, { cancel(): void }>()

  constructor(options: SpeechSynthesizerDeps) {
    this.#options = options
  }

  /** Whether the engine of that name accepts SSML. */
  takesSsml(engine: string): boolean {
    return this.#options.engines.get(engine)?.ssml ?? false
  }

  /**
   * Speaks a text. Rejects with the built-in voice's error if that was selected, if too many jobs wait, or if
   * `signal` fired.
   */
  async speak(
    text: ParsedSpeech,
    choice: VoiceChoice,
    wanted: SpeechTarget,
    signal?: AbortSignal,
  ): Promise<Speech> {
    const { engine: name, voice, language } = choice
    const named = this.#options.engines.get(name)
    if (!named) return { samples: await this.#byBuiltIn(text, { ...wanted, voice }, signal) }
    const how = { ...wanted, voice, language }
    return this.#attempt(name, () => this.#render(text, named, how, signal), signal)
  }

  /** Closes the engines too. */
  async close(): Promise<void> {
    for (const timer of this.#suspended.values()) timer.cancel()
    this.#suspended.clear()
    const { engines, builtIn: own } = this.#options
    await Promise.all([...engines.values(), { engine: own }].map(({ engine }) => engine.close()))
  }

  /** Runs a request. Cancellation and a full decoding queue are no failures of the engine. */
  async #attempt(
    name: string,
    speak: () => Promise<Samples>,
    signal: AbortSignal | undefined,
  ): Promise<Speech> {
    if (this.#suspended.has(name)) {
      this.#options.onResult(name, 'skipped')
      return { failure: `The voice ${name} failed several times and is suspended` }
    }
    try {
      const samples = await speak()
      this.#failures.delete(name)
      this.#options.onResult(name, 'ok')
      return { samples }
    } catch (error) {
      if (signal?.aborted || error instanceof SoundBusy) throw error
      this.#options.onResult(name, 'failed')
      if (!(error instanceof TextRejected)) this.#failed(name)
      return { failure: (error as Error).message }
    }
  }

  #failed(name: string): void {
    const count = (this.#failures.get(name) ?? 0) + 1
    this.#failures.set(name, count)
    if (count >= maxFailures) this.#suspend(name)
  }

  #suspend(name: string): void {
    this.#suspended.get(name)?.cancel()
    // After the suspension, a single failure suspends the engine again.
    this.#failures.set(name, maxFailures - 1)
    this.#suspended.set(
      name,
      this.#options.timers.after(suspensionMs, () => this.#suspended.delete(name)),
    )
  }

  async #byBuiltIn(
    text: ParsedSpeech,
    how: Omit<VoiceRequest, 'text'>,
    signal: AbortSignal | undefined,
  ): Promise<Samples> {
    const named = { engine: this.#options.builtIn, ssml: false }
    try {
      const samples = await this.#render(text, named, how, signal)
      this.#options.onResult(builtIn, 'ok')
      return samples
    } catch (error) {
      if (!signal?.aborted) this.#options.onResult(builtIn, 'failed')
      throw error
    }
  }

  async #render(
    { parts, ssml }: ParsedSpeech,
    named: NamedEngine,
    how: Omit<VoiceRequest, 'text'>,
    signal: AbortSignal | undefined,
  ): Promise<Samples> {
    const { engine } = named
    if (named.ssml && ssml !== undefined) return engine.speak({ ...how, text: ssml }, signal)
    const made: Samples[] = []
    for (const part of parts) {
      if (part.kind === 'pause') made.push(blankSamples(part.ms, how.rate))
      else made.push(await engine.speak({ ...how, text: part.text }, signal))
    }
    return concatSamples(made)
  }
}
