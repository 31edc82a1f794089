import type { Recogniser } from '../../../media/types.ts'
import { EngineError } from '../streaming/engine-error.ts'
import type {
  AgentRecogniser,
  AgentRecognition,
  AgentRecognitionListener,
  AgentRecognitionRequest,
} from './recogniser.ts'

/** The project's own recogniser, for instance a vosk-server, as a recogniser of agents. */
export class PlainRecogniser implements AgentRecogniser {
  readonly name: string
  readonly isStreaming = true
  readonly hasOwnLanguage = true
  readonly #recogniser: Recogniser

  /** The recogniser is not closed with this one. */
  constructor(name: string, recogniser: Recogniser) {
    this.name = name
    this.#recogniser = recogniser
  }

  open(request: AgentRecognitionRequest, listener: AgentRecognitionListener): AgentRecognition {
    const { rate, language, hints } = request
    const recognition = this.#recogniser.open(
      { sampleRate: rate, hints, ...(language && language !== 'multi' && { language }) },
      {
        onTranscript: (transcript) => listener.onTranscript(transcript),
        // The message is that of the connection, without the URL and without text.
        onFailure: ({ message }) => listener.onFailure(new EngineError('connection', message)),
      },
    )
    return {
      write: (samples) => recognition.write(samples),
      voice: () => {},
      close: () => recognition.close(),
    }
  }

  async close(): Promise<void> {}
}
