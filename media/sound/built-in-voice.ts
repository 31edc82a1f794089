import type { VoiceEngine, VoiceRequest } from '../types.ts'
import { builtInText, piecesOf, type Voice, voiceNamed, voices } from './built-in-text.ts'
import { joined } from './fill.ts'
import type { JobThread, Samples } from './job-thread.ts'
import type { SpeechJob } from './speech-thread.ts'

/** The name of the built-in engine in tables of voices and in metrics. */
export const builtIn = 'built-in'

/** The built-in voice: English, 16 kHz, in a thread of its own. `language` is not looked at. */
export class BuiltInVoice implements VoiceEngine {
  readonly #thread: JobThread<SpeechJob>
  readonly #voice: Voice

  /** `voice` speaks where a request names none, or one that is not there. */
  constructor(thread: JobThread<SpeechJob>, voice?: string) {
    this.#thread = thread
    this.#voice = (voice && voiceNamed(voice)) || voices[0]
  }

  // Piece by piece, so that a long text neither runs into the time limit nor keeps others waiting.
  async speak({ text, voice: wanted, rate, customer }: VoiceRequest, signal?: AbortSignal): Promise<Samples> {
    const voice = (wanted && voiceNamed(wanted)) || this.#voice
    const parts: Samples[] = []
    for (const piece of piecesOf(builtInText(text))) {
      parts.push(await this.#thread.run({ voice, text: piece, rate }, { customer, signal }))
    }
    return joined(parts)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
