import type { PcmRate } from '../../../media/types.ts'
import type { EngineError } from '../streaming/engine-error.ts'

/** Options of the recognition of one caller. */
export interface AgentRecognitionRequest {
  /** Sample rate in Hz of the audio. */
  readonly rate: PcmRate
  /** BCP 47 tag, or `multi`; default the recogniser's own. */
  readonly language?: string
  /** Further languages (BCP 47) that the caller may speak; default none. */
  readonly others?: readonly string[]
  /** Words that the caller is likely to use. */
  readonly hints: readonly string[]
  /** Whether the recogniser may end a turn by its meaning. */
  readonly isSemantic: boolean
  /** Silence in ms that ends a turn otherwise. */
  readonly endOfSpeechMs: number
}

/** Recognised text of the caller. */
export interface AgentTranscript {
  readonly text: string
  /** Whether the text is final; the next transcript begins a new one. */
  readonly isFinal: boolean
  /** 0 to 1; absent if the recogniser gives none. */
  readonly confidence?: number
  /** BCP 47 tag, of recognisers that detect the language. */
  readonly language?: string
}

/** Receives the results of a recognition. Nothing follows {@link onFailure}. */
export interface AgentRecognitionListener {
  onTranscript(transcript: AgentTranscript): void
  /** Language (BCP 47) of the last final text, by recognisers that find it out afterwards. */
  onLanguage?(language: string): void
  /** Turn of the caller, by recognisers that decide it; see `EngineListener.onTurn`. */
  onTurn(state: 'began' | 'eager' | 'resumed' | 'ended'): void
  /** Called at most once. */
  onFailure(error: EngineError): void
}

/** Returns the only language of a request; undefined if the recogniser has to find out which is spoken. */
export const onlyLanguage = ({ language, others = [] }: AgentRecognitionRequest): string | undefined =>
  language === 'multi' || others.length > 0 ? undefined : language

/** Recognition of one caller. */
export interface AgentRecognition {
  /** Audio at the requested rate: 20 ms, without gaps. Kept for 5 s until the connection is open. */
  write(samples: Int16Array): void
  /** Voice of the caller began or ended, by the level of the audio: after an end, final text is wanted. */
  voice(isVoiced: boolean): void
  /** Cancels at once. Idempotent. */
  close(): void
}

/** Recogniser of agents. Shared by all calls. */
export interface AgentRecogniser {
  /** Name in the configuration. */
  readonly name: string
  /** Whether text comes while the caller speaks; otherwise only after it. */
  readonly isStreaming: boolean
  /** Whether its server or model decides about the language, and requests cannot; default false. */
  readonly hasOwnLanguage?: boolean
  /** Opens a recognition. The listener is not called before the return. */
  open(request: AgentRecognitionRequest, listener: AgentRecognitionListener): AgentRecognition
  close(): Promise<void>
}
