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
   * Whether the server takes texts that it does not answer in a session (`clientContent`). Otherwise such
   * texts wait for the next one that it answers. Default by the model: true for Gemini 2, as later models
   * refuse them.
   */
  readonly notes?: boolean
}

/** URL of the service for developers. */
export const geminiUrl =
  'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'
