import type { AgentEnd } from '../verbs.ts'
import type { Json } from './document-types.ts'
import { defined } from './log.ts'
import { reportBody } from './report.ts'
import type { EndHooks } from './session-end-hooks.ts'
import type { Moves } from './session-moves.ts'
import { sendLater } from './session-notify.ts'
import type { SessionState } from './session-state.ts'

/** Collaborators of a report. */
export interface ReportDeps {
  readonly moves: Moves
  readonly endHooks: EndHooks
}

/**
 * Reports the end of a conversation: calls the hook, asks for the summary, and sends the report. Also after
 * the end of the call. Rejects if the report cannot be written as JSON.
 */
export const reportEnd = async (
  state: SessionState,
  { moves, endHooks }: ReportDeps,
  { end, startedAt }: { readonly end: AgentEnd; readonly startedAt: number },
): Promise<void> => {
  const { host, document, log } = state
  const endedAt = host.context.now()
  const reason = reasons[end.kind]
  state.debug('session_end', defined({ reason, ended_by: end.kind, duration_ms: endedAt - startedAt }))
  endHooks.call('end', {})
  const { postPromptUrl } = document
  const hasHook = state.functions.hook('summary') !== undefined
  const wanted = state.postPrompt ?? (hasHook ? defaultInstruction : undefined)
  const instruction = postPromptUrl !== undefined || hasHook ? wanted : undefined
  // Both at once: only directly after the end, a model still knows the conversation.
  const [summary, saved] = await Promise.all([
    instruction === undefined ? undefined : moves.summary(instruction),
    document.params.saveConversation && postPromptUrl ? moves.summary(savedInstruction) : undefined,
  ])
  if (summary !== undefined) endHooks.call('summary', { summary })
  if (!postPromptUrl) return
  const { vars, call } = host.variables
  const body = reportBody({
    info: host.call.info,
    spaceId: host.spaceId,
    sessionId: state.id,
    params: document.params,
    log,
    globalData: state.globalData,
    variables: vars,
    callObject: call,
    summary: state.postPrompt === undefined ? undefined : summary,
    callTimes: host.call.times,
    conversationSummary: saved ?? summary,
    startedAt,
    endedAt,
    end,
  })
  const form = host.form === 'bedrock' ? bedrock(body) : body
  sendLater(state, { kind: 'agent-report', url: postPromptUrl.url, body: form, ends: state.id })
}

/** Returns a report in the form of `amazon_bedrock`. */
const bedrock = (body: Json): Json => ({
  ...body,
  raw_call_log: body.call_log,
  swaig_log: [],
  conversation_summary: body.conversation_summary ?? '',
})

/** Instruction for the summary of `summarize_conversation` in a document without `post_prompt`. */
const defaultInstruction = 'Summarize the conversation in a few sentences.'

/** Instruction for the summary that the next conversation of the same id begins with. */
const savedInstruction =
  'Summarize the conversation in a few sentences. The next one with the same person goes on from them.'

const reasons: Readonly<Record<AgentEnd['kind'], string>> = {
  stopped: 'end_call',
  hangup: 'normal',
  inactive: 'normal',
  limit: 'hard_timeout',
  failed: 'error',
}
