import type { VoiceEngine, VoiceRequest } from '../types.ts'
import { builtInText, piecesOf, type Voice, voiceByName, voices } from './built-in-text.ts'
import type { JobThread, Samples } from './job-thread.ts'
import { concatSamples } from './sample-buffers.ts'
import type { SpeechJob } from './speech-thread.ts'

/** Name of the built-in engine in voice tables and metrics. */
export const builtIn = 'built-in'

/** The built-in voice: English, 16 kHz, in its own thread. Ignores `language`. */
export class BuiltInVoice implements VoiceEngine {
  readonly #thread: JobThread<SpeechJob>
  readonly #voice: Voice

  /** `voice` is used for requests without a known voice. */
  constructor(thread: JobThread<SpeechJob>, voice?: string) {
    this.#thread = thread
    this.#voice = (voice && voiceByName(voice)) || voices[0]
  }

  // Renders piece by piece, so that a long text neither exceeds the time limit nor delays other requests.
  async speak({ text, voice: wanted, rate, customer }: VoiceRequest, signal?: AbortSignal): Promise<Samples> {
    const voice = (wanted && voiceByName(wanted)) || this.#voice
    const parts: Samples[] = []
    for (const piece of piecesOf(builtInText(text))) {
      parts.push(await this.#thread.run({ voice, text: piece, rate }, { customer, signal }))
    }
    return concatSamples(parts)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
