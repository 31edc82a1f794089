import type { HandlerContext } from '../handler.ts'
import type { AgentTranscriptEvent, CallControl } from '../verbs.ts'
import type { Json } from './document-types.ts'

/** Voice agent that an XML document or an application starts, and not a script. */
export interface AgentRequest {
  /** Language of the document: that of the method `ai`, or of `amazon_bedrock`. */
  readonly method: 'ai' | 'amazon_bedrock'
  readonly document: Json
  /** Place of the document, for warnings and the log. */
  readonly path: string
  /** Ends the conversation, after the agent's last words. */
  readonly stop?: AbortSignal
  /** Receives the live transcripts: of this agent, and of others that scripts of its actions start. */
  readonly onTranscript?: (event: AgentTranscriptEvent) => void
}

/**
 * End of a requested agent. `over`: the conversation or the call has ended. `left`: a script to which an
 * action transferred the call has ended. `failed`: there was no conversation, or no engine could go on; the
 * context has a warning with the reason.
 */
export type AgentRequestEnd =
  | { readonly kind: 'over' | 'left' }
  | { readonly kind: 'failed'; readonly code: string }

/**
 * Runs a voice agent to its end. Its placeholders have the variables of a script on this call, and the
 * scripts of its actions run on the call.
 */
export type RunAgentRequest = (
  call: CallControl,
  context: HandlerContext,
  request: AgentRequest,
) => Promise<AgentRequestEnd>
