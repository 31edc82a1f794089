import type { Timers } from '../common/timers.ts'
import type { HandlerContext } from '../handler.ts'
import type { AgentEnd, AgentTranscriptEvent, CallControl } from '../verbs.ts'
import type { Json } from './document-types.ts'

/** Data that the agents of one call share. */
export interface AgentMemory {
  /** Global data at the end of the latest agent. */
  globalData?: Json
}

/** Result of a document that ran on the call for an action. */
export interface ActionResult {
  /** Whether the document leaves the agent for good. */
  readonly hasLeft: boolean
  /** Text for the model, from the variable `ai_response`. */
  readonly response?: string
}

/**
 * Surroundings of an agent: the script, the XML document or the application that started it, and the services
 * of the gateway.
 */
export interface AgentHost {
  readonly call: CallControl
  readonly context: Pick<HandlerContext, 'fetchDocument' | 'notify' | 'request' | 'now'>
  /** Timers that run after the end of the call, too. */
  readonly timers: Timers
  readonly memory: AgentMemory
  /** Id of the space in requests and reports; that of the project without one. */
  readonly spaceId: string
  /** Ends the conversation, after the agent's last words. */
  readonly stop?: AbortSignal | undefined
  /** Receives the live transcript. */
  readonly onTranscript?: ((event: AgentTranscriptEvent) => void) | undefined
  /** Variables and call object that requests can carry. */
  readonly variables: { readonly vars: Json; readonly call: Json }
  /** Form of requests: that of `amazon_bedrock` differs. Default `swaig`. */
  readonly form?: 'swaig' | 'bedrock'
  /** Logs a fault that does not end the conversation. */
  warn(message: string): void
  /** See `DataMapTools.matches`. */
  matches(pattern: string, ignoreCase: boolean, text: string): Promise<boolean>
  /** Runs the document of an action on the call. Throws `VerbFailed` for a faulty document. */
  run(document: unknown): Promise<ActionResult>
  /**
   * Prepares to continue with a document, or a destination, after the agent. Throws `VerbFailed` if it cannot
   * be used: the agent then stays.
   */
  leave(to: unknown, params: Json): Promise<void>
}

/** End of a session. `hasLeft`: the host continues with what {@link AgentHost.leave} prepared. */
export interface SessionEnd {
  readonly end: AgentEnd
  readonly hasLeft: boolean
}
