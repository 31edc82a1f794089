import type { SessionOptions } from '../session/session-link.ts'
import type { WireFormat } from '../session/wire-audio.ts'

/** Options of a {@link LiveEngine}. */
export interface LiveOptions extends SessionOptions {
  /** WebSocket URL; default OpenAI's. That of Azure ends with `/openai/v1/live/sessions`. */
  readonly url?: string
  readonly key?: string
  /** Header of the key: `Authorization: Bearer` (default), or `api-key` (Azure). */
  readonly keyHeader?: 'bearer' | 'api-key'
  /** Model; default `gpt-live-1`. */
  readonly model?: string
  /** Voice, unless the document names one of `openai.`; default the server's. */
  readonly voice?: string
  /** Audio in both directions; default `pcmu`. */
  readonly format?: Extract<WireFormat, 'pcmu' | 'pcma' | 'pcm16000' | 'pcm24000'>
}

/** URL of OpenAI's service. */
export const liveUrl = 'wss://api.openai.com/v1/live/sessions'
