import type { SessionOptions } from '../session/session-link.ts'
import type { WireFormat } from '../session/wire-audio.ts'

/** Options of a {@link DeepgramAgentEngine}. */
export interface DeepgramAgentOptions extends SessionOptions {
  /** WebSocket URL; default Deepgram's. */
  readonly url?: string
  readonly key?: string
  /** Audio in both directions; default `pcmu`. */
  readonly format?: WireFormat
  /** Recogniser, as `agent.listen.provider`; default Flux for English. */
  readonly listen?: Readonly<Record<string, unknown>>
  /** Language model, as `agent.think` without prompt and functions: `provider` and `endpoint`. */
  readonly think: Readonly<Record<string, unknown>>
  /** Voice, as `agent.speak.provider`; default the server's. */
  readonly speak?: Readonly<Record<string, unknown>>
}

/** URL of Deepgram's service. */
export const deepgramAgentUrl = 'wss://agent.deepgram.com/v1/agent/converse'
