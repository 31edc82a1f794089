/** A recogniser for tests: the test says what is understood. */
import type {
  Recogniser,
  Recognition,
  RecognitionListener,
  RecognitionRequest,
} from '../../../media/types.ts'

/** One recognition that the test drives. */
export class FakeRecognition implements Recognition {
  readonly request: RecognitionRequest
  /** Samples that were written. */
  heard = 0
  state: 'open' | 'ending' | 'closed' = 'open'
  #listener: RecognitionListener
  #ended = Promise.withResolvers<void>()

  constructor(request: RecognitionRequest, listener: RecognitionListener) {
    this.request = request
    this.#listener = listener
  }

  /** Something of what is being said was understood; it may change. */
  partial(text: string): void {
    if (this.state !== 'closed') this.#listener.onTranscript({ text, isFinal: false })
  }

  final(text: string, confidence?: number): void {
    if (this.state === 'closed') return
    this.#listener.onTranscript({ text, isFinal: true, ...(confidence !== undefined && { confidence }) })
  }

  fail(message = 'the connection was lost'): void {
    if (this.state === 'closed') return
    this.close()
    this.#listener.onFailure(new Error(message))
  }

  /** Ends the recognition after the last transcript. */
  finish(): void {
    this.#ended.resolve()
  }

  write(samples: Int16Array): void {
    if (this.state === 'open') this.heard += samples.length
  }

  end(): Promise<void> {
    if (this.state === 'open') this.state = 'ending'
    return this.#ended.promise
  }

  close(): void {
    this.state = 'closed'
    this.#ended.resolve()
  }
}

/** Makes them, and keeps them for the test. */
export class FakeRecogniser implements Recogniser {
  readonly opened: FakeRecognition[] = []

  open(request: RecognitionRequest, listener: RecognitionListener): FakeRecognition {
    const recognition = new FakeRecognition(request, listener)
    this.opened.push(recognition)
    return recognition
  }

  async close(): Promise<void> {
    for (const recognition of this.opened) recognition.close()
  }
}
