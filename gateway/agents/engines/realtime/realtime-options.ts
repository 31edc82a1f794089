import type { SessionOptions } from '../session/session-link.ts'
import type { WireFormat } from '../session/wire-audio.ts'

/** Options of a {@link RealtimeEngine}. */
export interface RealtimeOptions extends SessionOptions {
  /**
   * WebSocket URL, for instance `wss://api.openai.com/v1/realtime`, or that of Azure or of a compatible
   * server. The model is added as `model=`, unless the URL names one.
   */
  readonly url: string
  readonly key?: string
  /** Header of the key: `Authorization: Bearer` (default), or `api-key` (Azure). */
  readonly keyHeader?: 'bearer' | 'api-key'
  readonly model?: string
  /** Voice, unless the document names one of `openai.`; default the server's. */
  readonly voice?: string
  /** Names of events: generally available (default), or beta, as older compatible servers have them. */
  readonly dialect?: 'ga' | 'beta'
  /** Audio in both directions; default `pcmu`. `pcm24000` is wideband. */
  readonly format?: Extract<WireFormat, 'pcmu' | 'pcma' | 'pcm24000'>
  /** Model that transcribes the caller; default `gpt-4o-mini-transcribe`. Empty: no transcription. */
  readonly transcriptionModel?: string
  /** Whether the server has `semantic_vad`; default for `ga` only. */
  readonly hasSemanticTurns?: boolean
  /** Patience of `semantic_vad`; default `auto`. */
  readonly eagerness?: 'low' | 'medium' | 'high' | 'auto'
  /** Whether the server cancels its answer when it hears the caller, if the rules permit it; default true. */
  readonly isServerInterrupting?: boolean
  /** Whether the server knows `conversation.item.truncate`; default true. */
  readonly canTruncate?: boolean
  /** Effort of models that reason, for instance `low`; default the server's. */
  readonly reasoningEffort?: string
}
