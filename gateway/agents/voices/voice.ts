import type { PcmRate } from '../../../media/types.ts'
import type { EngineError } from '../streaming/engine-error.ts'

/** Options of a spoken text. */
export interface SpeakOptions {
  /** Sample rate in Hz of the result. */
  readonly rate: PcmRate
  /** Voice by the server's own name; default the configured one. */
  readonly voice?: string
  /** BCP 47 tag; default the voice's own language. */
  readonly language?: string
  /** Settings of the document for the voice, passed on to the server. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Id of the customer's project, for fairness. */
  readonly projectId: string
}

/** Receives speech as it arrives. Nothing follows {@link onEnd} and {@link onFailure}. */
export interface SpeechListener {
  /**
   * Samples; the receiver owns the array. `text`: the part of the text that they speak, from voices that know
   * it; then each part of the text comes once, in order.
   */
  onAudio(samples: Int16Array, text?: string): void
  onEnd(): void
  onFailure(error: EngineError): void
}

/** Speech in progress. */
export interface Utterance {
  /** Stops the speech; the listener is not called any more. Idempotent. */
  cancel(): void
}

/** Voice of agents, whose speech streams. Shared by all calls. */
export interface AgentVoice {
  /** Name in the configuration. */
  readonly name: string
  /** Begins to speak a text. The listener is not called before the return. */
  speak(text: string, options: SpeakOptions, listener: SpeechListener): Utterance
  close(): Promise<void>
}
