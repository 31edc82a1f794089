import type { SessionOptions } from '../session/session-link.ts'

/** Options of a {@link GeminiEngine}. */
export interface GeminiOptions extends SessionOptions {
  /**
   * WebSocket URL of BidiGenerateContent; default Google's for developers. Vertex AI has one for each region.
   */
  readonly url?: string
  readonly key?: string
  /** Place of the key: the query's `key` (default), or `Authorization: Bearer` (Vertex AI). */
  readonly keyPlace?: 'query' | 'bearer'
  /** Name of the model; `models/` is added to a name without a slash. */
  readonly model: string
  /** Voice, unless the document names one of `gemini.`; default the server's. */
  readonly voice?: string
  /**
   * Decision about the end of the caller's turn: the server's detection (default), or the conversation's. The
   * server's was seen to end a turn in a pause of 1 s, whatever was configured.
   */
  readonly turns?: 'its' | 'ours'
  /** Whether an interruption is noted in the conversation, as a message; default true. */
  readonly hasNotes?: boolean
  /** Whether the session outlives its connections; default true. */
  readonly isResumable?: boolean
}

/** URL of the service for developers. */
export const geminiUrl =
  'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'
