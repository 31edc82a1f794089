import { WebSocket } from 'ws'
import type { Recogniser, Recognition, RecognitionListener, RecognitionRequest } from '../../media/types.ts'
import type { Clock } from '../core/clock.ts'
import { urlOf } from './languages.ts'
import { failedRecognition } from './no-recogniser.ts'
import { VoskRecognition, type VoskResult } from './vosk-recognition.ts'

/** How a {@link VoskRecogniser} is set up. */
export interface VoskOptions {
  /** `ws:` or `wss:`; where what no entry of `languages` fits goes to. */
  readonly url: string
  /** URLs by language (BCP 47); `de` stands for `de-AT` too. */
  readonly languages: Readonly<Record<string, string>>
  /** Further headers of the opening request. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  /** Sends hints as the list of phrases to which the server then restricts itself. */
  readonly hints: boolean
  readonly connectTimeoutMs: number
  readonly clock: Clock
  /** Told how each recognition ended. */
  readonly onEnd?: (result: VoskResult) => void
}

/**
 * The recogniser behind the WebSocket protocol of vosk-server: a `config` message, PCM of 16 bit (little-endian) in binary ones, and
 * transcripts in JSON. The URLs are the operator's own, so they may be private. Redirects are not followed, which would carry the token
 * elsewhere. Each recognition has a connection of its own, which is made once: what goes wrong with it is told, and nothing is tried again.
 */
export class VoskRecogniser implements Recogniser {
  readonly #options: VoskOptions
  readonly #open = new Set<VoskRecognition>()

  constructor(options: VoskOptions) {
    this.#options = options
  }

  /** Recognitions that are not over. */
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

  /** A connection on its way, or why there can be none. */
  #socket(language: string | undefined): WebSocket | string {
    const { url, languages, headers, token } = this.#options
    try {
      return new WebSocket(urlOf(language, languages) ?? url, {
        headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
        perMessageDeflate: false,
        maxPayload: 1 << 20,
      })
    } catch (error) {
      // A header or token with a character that may not be in one; the message would show it.
      return `the request cannot be made: ${(error as NodeJS.ErrnoException).code ?? 'it is refused'}`
    }
  }
}
