import type { AgentEnd, CallInfo, CallTimes } from '../verbs.ts'
import type { AgentParams, Json } from './document-types.ts'
import { type AgentLog, defined, micros } from './log.ts'

/** Facts of a conversation that has ended, for its report. Times are milliseconds since the epoch. */
export interface ReportFacts {
  readonly info: CallInfo
  readonly spaceId: string
  readonly sessionId: string
  readonly params: AgentParams
  readonly log: AgentLog
  readonly globalData: Json
  /** Variables of the script, and its call object. */
  readonly variables: Json
  readonly callObject: Json
  /** Summary of the conversation; undefined if none was asked for, or no model gave one. */
  readonly summary: string | undefined
  /** Summary for the next conversation of the same id. */
  readonly conversationSummary: string | undefined
  readonly callTimes: CallTimes
  readonly startedAt: number
  readonly endedAt: number
  readonly end: AgentEnd
}

/** Fields of every request about a conversation. */
export const conversationFields = ({
  info,
  spaceId,
  sessionId,
  params,
}: Pick<ReportFacts, 'info' | 'spaceId' | 'sessionId' | 'params'>): Json =>
  defined({
    call_id: info.callId,
    ai_session_id: sessionId,
    conversation_id: params.conversationId,
    conversation_type: 'voice',
    app_name: params.appName,
    project_id: info.projectId,
    space_id: spaceId,
  })

/** Returns the body of the report to `post_prompt_url`. */
export const reportBody = (facts: ReportFacts): Json => {
  const { info, params, log, summary, end } = facts
  return defined({
    action: 'post_conversation',
    content_type: 'text/json',
    content_disposition: 'agent.summary',
    version: '2.0',
    ...conversationFields(facts),
    caller_id_name: info.fromName,
    caller_id_number: info.fromUser,
    post_prompt_data: summary === undefined ? undefined : summaryData(summary),
    conversation_summary: facts.conversationSummary,
    call_log: log.callLog,
    raw_call_log: log.rawCallLog,
    previous_contexts: log.previousContexts.length > 0 ? log.previousContexts : undefined,
    call_timeline: log.timeline,
    swaig_log: log.functions,
    times: log.times,
    global_data: facts.globalData,
    SWMLVars: facts.variables,
    SWMLCall: facts.callObject,
    call_start_date: micros(facts.callTimes.startedAt),
    call_answer_date: micros(facts.callTimes.answeredAt),
    call_end_date: end.kind === 'hangup' ? micros(facts.endedAt) : undefined,
    ai_start_date: micros(facts.startedAt),
    ai_end_date: micros(facts.endedAt),
    call_ended_by: endedBy(end),
    hard_timeout: end.kind === 'limit' || undefined,
    ...(params.accounting && accounting(facts)),
  })
}

/** Returns a summary as raw text, and parsed if it is JSON, also in a block of markdown. */
export const summaryData = (raw: string): Json => {
  const text = raw.trim()
  const block = /^```[a-z]*\n([\s\S]*)\n```$/.exec(text)
  try {
    const value: unknown = JSON.parse(block?.[1] ?? text)
    if (typeof value === 'object' && value !== null) return { parsed: [value], raw }
  } catch {
    // The summary is plain text.
  }
  return { parsed: [], raw }
}

const endedBy = ({ kind }: AgentEnd): string =>
  kind === 'hangup' ? 'caller' : kind === 'failed' ? 'error' : 'agent'

const accounting = ({ log, startedAt, endedAt }: ReportFacts): Json => {
  const { inputTokens, outputTokens, voiceCharacters, recognisedMs } = log.usage
  const minutes = Math.max(0, endedAt - startedAt) / 60_000
  const perMinute = (count: number) => (minutes > 0 ? Math.round((count / minutes) * 100) / 100 : 0)
  return {
    total_minutes: Math.round(minutes * 100) / 100,
    total_input_tokens: inputTokens,
    total_output_tokens: outputTokens,
    total_input_tokens_per_minute: perMinute(inputTokens),
    total_output_tokens_per_minute: perMinute(outputTokens),
    total_tts_chars: voiceCharacters,
    total_tts_chars_per_min: perMinute(voiceCharacters),
    total_asr_minutes: Math.round(recognisedMs / 600) / 100,
  }
}
