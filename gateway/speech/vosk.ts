import { WebSocket } from 'ws'
import type { Recogniser, Recognition, RecognitionListener, RecognitionRequest } from '../../media/types.ts'
import type { Clock } from '../core/clock.ts'
import { urlOf } from './languages.ts'
import { failedRecognition } from './no-recogniser.ts'
import { VoskRecognition, type VoskResult } from './vosk-recognition.ts'

/** Options of a {@link VoskRecogniser}. */
export interface VoskOptions {
  /** URL (`ws:` or `wss:`) for languages without an entry in `languages`. */
  readonly url: string
  /** URLs by language (BCP 47); `de` stands for `de-AT` too. */
  readonly languages: Readonly<Record<string, string>>
  /** Further headers of the opening request. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  /** Whether hints are sent, as a list of phrases to which the server restricts recognition. */
  readonly hints: boolean
  readonly connectTimeoutMs: number
  readonly clock: Clock
  /** Called with the outcome of each recognition. */
  readonly onEnd?: (result: VoskResult) => void
}

/**
 * Recogniser of the WebSocket protocol of vosk-server: a `config` message, PCM of 16 bit (little-endian) in
 * binary messages, and transcripts in JSON. The operator configures the URLs, so they may have private
 * addresses. Redirects are not followed, because they would send the token to another server. Each
 * recognition has its own connection; failures are reported, not retried.
 */
export class VoskRecogniser implements Recogniser {
  readonly #options: VoskOptions
  readonly #open = new Set<VoskRecognition>()

  constructor(options: VoskOptions) {
    this.#options = options
  }

  /** Number of recognitions in progress. */
  get running(): number {
    return this.#open.size
  }

  open(request: RecognitionRequest, listener: RecognitionListener): Recognition {
    const { hints, connectTimeoutMs, clock, onEnd } = this.#options
    const socket = this.#socket(request.language)
    if (typeof socket === 'string') {
      onEnd?.('failed')
      return failedRecognition(socket, listener)
    }
    const recognition = new VoskRecognition({
      socket,
      listener,
      clock,
      connectTimeoutMs,
      sampleRate: request.sampleRate,
      phrases: hints ? (request.hints ?? []) : [],
      onOver: (result) => {
        this.#open.delete(recognition)
        onEnd?.(result)
      },
    })
    this.#open.add(recognition)
    return recognition
  }

  async close(): Promise<void> {
    for (const recognition of this.#open) recognition.close()
  }

  /** Returns a new connection, or the reason for its failure. */
  #socket(language: string | undefined): WebSocket | string {
    const { url, languages, headers, token } = this.#options
    try {
      return new WebSocket(urlOf(language, languages) ?? url, {
        headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
        perMessageDeflate: false,
        maxPayload: 1 << 20,
      })
    } catch (error) {
      // A header or token contains an invalid character. The error's message is withheld, because it contains
      // the value.
      return `the request cannot be made: ${(error as NodeJS.ErrnoException).code ?? 'it is refused'}`
    }
  }
}
