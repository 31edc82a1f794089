import type { AgentEnd } from '../verbs.ts'
import type { Json } from './document-types.ts'
import { functionRequest } from './function-request.ts'
import type { Hook } from './functions.ts'
import { defined } from './log.ts'
import { reportBody } from './report.ts'
import type { Moves } from './session-moves.ts'
import { requestFacts } from './session-requests.ts'
import type { SessionState } from './session-state.ts'

/** Sends a JSON request in the background, also after the end of the call. */
const send = (state: SessionState, kind: string, url: string, body: Json, ends?: string): void =>
  state.host.context.notify({
    kind,
    url: state.fill(url),
    method: 'POST',
    body: { contentType: 'application/json', text: JSON.stringify(body) },
    ...(ends !== undefined && { ends }),
  })

/** Calls a function of the document without waiting for its reply. */
const callHook = (state: SessionState, hook: Hook, args: Json): void => {
  const of = state.functions.hook(hook)
  const target = of?.webhook ?? state.document.defaultWebhook
  if (!of || !target) return
  const given = { parsed: args, raw: JSON.stringify(args), isFaulty: false }
  send(state, 'agent-function', target.url, functionRequest(of, given, requestFacts(state, of)))
}

/**
 * Reports the end of a conversation: calls the hook, asks for the summary, and sends the report. Also after
 * the end of the call. Rejects if the report cannot be written as JSON.
 */
export const reportEnd = async (
  state: SessionState,
  moves: Moves,
  { end, startedAt }: { readonly end: AgentEnd; readonly startedAt: number },
): Promise<void> => {
  const { host, document, log } = state
  const endedAt = host.context.now()
  const reason = reasons[end.kind]
  state.debug('session_end', defined({ reason, ended_by: end.kind, duration_ms: endedAt - startedAt }))
  callHook(state, 'end', {})
  const { postPromptUrl } = document
  const wantsSummary = postPromptUrl !== undefined || state.functions.hook('summary') !== undefined
  const instruction = wantsSummary ? state.postPrompt : undefined
  // Both at once: only directly after the end, a model still knows the conversation.
  const [summary, saved] = await Promise.all([
    instruction === undefined ? undefined : moves.summary(instruction),
    document.params.saveConversation && postPromptUrl ? moves.summary(savedInstruction) : undefined,
  ])
  if (summary !== undefined) callHook(state, 'summary', { summary })
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
    summary,
    callTimes: host.call.times,
    conversationSummary: saved ?? summary,
    startedAt,
    endedAt,
    end,
  })
  send(state, 'agent-report', postPromptUrl.url, host.form === 'bedrock' ? bedrock(body) : body, state.id)
}

/** Returns a report in the form of `amazon_bedrock`. */
const bedrock = (body: Json): Json => ({
  ...body,
  raw_call_log: body.call_log,
  swaig_log: [],
  conversation_summary: body.conversation_summary ?? '',
})

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
