import type { SessionOptions } from '../session/session-link.ts'
import type { WireFormat } from '../session/wire-audio.ts'

/** Options of an {@link ElevenLabsAgentEngine}. */
export interface ElevenLabsAgentOptions extends SessionOptions {
  /** WebSocket URL; default ElevenLabs'. */
  readonly url?: string
  readonly key?: string
  /** Id of the agent. Its configuration declares the functions, the formats and the permitted overrides. */
  readonly agent: string
  /**
   * URL of the request for a signed WebSocket URL, which agents with authentication need. Default: the key is
   * sent as `xi-api-key` when the WebSocket is opened.
   */
  readonly signingUrl?: string
  /** Voice, unless the document names one of `elevenlabs.`; default the agent's. */
  readonly voice?: string
  /** Audio that the agent's configuration has in both directions; default `pcmu` (`ulaw_8000`). */
  readonly format?: Exclude<WireFormat, 'pcma'>
  /** Whether prompt and greeting are overridden; the agent must permit it. Default true. */
  readonly hasOverrides?: boolean
}

/** URL of ElevenLabs' service. */
export const elevenLabsAgentUrl = 'wss://api.elevenlabs.io/v1/convai/conversation'
