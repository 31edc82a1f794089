import type { AgentFunction, AgentModelSettings } from '../../../handlers/verbs.ts'
import type { EngineCall, EngineMessage } from '../engine.ts'
import type { EngineError } from '../streaming/engine-error.ts'

/** Request to a language model. */
export interface ModelRequest {
  /** Messages in order, the prompt first. */
  readonly messages: readonly EngineMessage[]
  readonly functions: readonly AgentFunction[]
  readonly settings: AgentModelSettings
}

/** Use of a model by one request. */
export interface ModelUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
}

/** Receives an answer as the model writes it. Nothing follows {@link onEnd} and {@link onFailure}. */
export interface ModelListener {
  /** Piece of text to speak; thoughts of the model are left out. */
  onText(piece: string): void
  /** Called at most once, before the end. */
  onUsage(usage: ModelUsage): void
  /** The answer is complete. `incomplete`: cut by a limit of tokens or by the server's filter. */
  onEnd(how: 'completed' | 'incomplete', calls: readonly EngineCall[]): void
  onFailure(error: EngineError): void
}

/** Answer in progress. */
export interface ModelAnswer {
  /** Stops the generation; the listener is not called any more. Idempotent. */
  cancel(): void
}

/** Language model. Shared by all calls. */
export interface Model {
  /** Name in the configuration. */
  readonly name: string
  /** Whether an empty answer is none that failed; default false. */
  readonly maySayNothing?: boolean
  /** Begins an answer. The listener is not called before the return. */
  answer(request: ModelRequest, listener: ModelListener): ModelAnswer
  close(): Promise<void>
}

/** Returns the text of one answer without functions, for instance a summary. Rejects with an EngineError. */
export const complete = (
  model: Model,
  messages: readonly EngineMessage[],
  settings: AgentModelSettings,
  signal?: AbortSignal,
): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  if (signal?.aborted) return Promise.reject(signal.reason)
  let text = ''
  const answer = model.answer(
    { messages, functions: [], settings },
    {
      onText: (piece) => {
        text += piece
      },
      onUsage: () => {},
      onEnd: () => resolve(text.trim()),
      onFailure: reject,
    },
  )
  const cancel = () => {
    answer.cancel()
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', cancel, { once: true })
  return promise.finally(() => signal?.removeEventListener('abort', cancel))
}
