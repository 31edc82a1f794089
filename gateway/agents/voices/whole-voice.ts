import type { VoiceEngine } from '../../../media/types.ts'
import { EngineError } from '../streaming/engine-error.ts'
import type { AgentVoice, SpeakOptions, SpeechListener, Utterance } from './voice.ts'

/** Voice whose engine returns a whole text at once: the built-in voice, or one behind HTTP. */
export class WholeVoice implements AgentVoice {
  readonly name: string
  readonly #engine: VoiceEngine
  readonly #voice: string | undefined

  /** `voice`: default by the engine's names. The engine is not closed with the voice. */
  constructor(name: string, engine: VoiceEngine, voice?: string) {
    this.name = name
    this.#engine = engine
    this.#voice = voice
  }

  speak(text: string, options: SpeakOptions, listener: SpeechListener): Utterance {
    const controller = new AbortController()
    void this.#speak(text, options, controller.signal).then(
      (samples) => {
        if (controller.signal.aborted) return
        if (samples.length > 0) listener.onAudio(samples)
        listener.onEnd()
      },
      () => {
        // The message of the engine may contain the text.
        if (!controller.signal.aborted)
          listener.onFailure(new EngineError('server', `the voice ${this.name} failed`))
      },
    )
    return { cancel: () => controller.abort() }
  }

  async close(): Promise<void> {}

  async #speak(text: string, options: SpeakOptions, signal: AbortSignal): Promise<Int16Array> {
    const { rate, language, projectId } = options
    const voice = options.voice ?? this.#voice
    const request = {
      text,
      rate,
      ...(voice && { voice }),
      ...(language && { language }),
      customer: projectId,
    }
    // A copy: engines cache their samples, and the listener owns what it receives.
    return Int16Array.from(await this.#engine.speak(request, signal))
  }
}
