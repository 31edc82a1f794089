import type { MediaPort, PcmRate, Prompt } from '../../media/types.ts'
import type { SteadyClock } from '../core/clock.ts'
import type { SpeechDetector } from './detector/speech-detector.ts'
import type { SoundVerdict } from './detector/voice-check.ts'
import type { Engine, EngineFailure, EngineMessage } from './engine.ts'
import type { CutKind } from './turns/turn-types.ts'

/** Collaborators and limits of a conversation. */
export interface ConversationDeps {
  /** Id of the agent. */
  readonly id: string
  readonly projectId: string
  /** Engines in order of preference, at least one. */
  readonly engines: readonly Engine[]
  readonly clock: SteadyClock
  /** Detector that checks the voice of the caller; absent: the level alone decides. */
  readonly detector?: SpeechDetector
  /** Time-out of a function, in ms. */
  readonly functionTimeoutMs: number
  /** Most tokens of language models; absent: no limit. */
  readonly maxTokens?: number
  /** Faults of the document that do not prevent the conversation, as messages for its events. */
  readonly warnings: readonly string[]
  /** Returns a phrase as samples at a rate; undefined if it cannot be spoken. Never rejects. */
  readonly render: (text: string, rate: PcmRate) => Promise<Int16Array | undefined>
  /** Fetches and decodes a sound for a port. Rejects if that fails. */
  readonly loadSound: (url: string, port: MediaPort, signal: AbortSignal) => Promise<Prompt>
  /** Answers an instruction about messages. Rejects if no model can. */
  readonly complete: (
    engine: Engine,
    messages: readonly EngineMessage[],
    instruction: string,
  ) => Promise<string>
  readonly observer: ConversationObserver
}

/** Receives facts for the log and the metrics. */
export interface ConversationObserver {
  onEngineFailure(engine: Engine, failure: EngineFailure): void
  /** Time in ms from the end of the caller's voice to the first sound of the answer. */
  onResponse(engine: Engine, ms: number): void
  /** An answer was cut: by the caller, or `given-up`. */
  onInterruption(how: CutKind): void
  /** A sound of the caller is over. Only called if there is a detector. */
  onSound(verdict: SoundVerdict): void
  onError(error: unknown): void
}
