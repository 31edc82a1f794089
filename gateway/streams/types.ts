import type { CallStream } from '../../handlers/verbs.ts'
import type { MediaPort } from '../../media/types.ts'

/** The leg whose audio is streamed. */
export interface StreamSource {
  readonly callId: string
  readonly projectId: string
  readonly port: MediaPort
  /** Sends digits to the leg; never rejects. */
  sendDigits(digits: string): void
}

/** A stream, as the call sees it. */
export interface AudioStream extends CallStream {
  /** The leg has pressed a key. */
  digit(digit: string): void
}
