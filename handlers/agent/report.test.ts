import { expect, it } from 'vitest'
import { testInfo } from '../testing/fake-call.ts'
import type { AgentParams } from './document-types.ts'
import { AgentLog } from './log.ts'
import { type ReportFacts, reportBody, summaryData } from './report.ts'

const facts = (more: Partial<ReportFacts> = {}): ReportFacts => ({
  info: testInfo,
  spaceId: 's-1',
  sessionId: 'ai-1',
  params: { appName: 'app', accounting: false } as AgentParams,
  log: new AgentLog(),
  globalData: { a: 1 },
  variables: { v: 2 },
  callObject: { call_id: 'c-1' },
  summary: undefined,
  conversationSummary: undefined,
  callTimes: { startedAt: 500, answeredAt: 900 },
  startedAt: 1000,
  endedAt: 61_000,
  end: { kind: 'hangup' },
  ...more,
})

it('has the fields of the vendor', () => {
  const summaries = { summary: '{"name":"Ann"}', conversationSummary: 'Ann called.' }
  expect(reportBody(facts(summaries))).toEqual({
    action: 'post_conversation',
    content_type: 'text/json',
    content_disposition: 'agent.summary',
    version: '2.0',
    call_id: 'c-1',
    ai_session_id: 'ai-1',
    conversation_type: 'voice',
    app_name: 'app',
    project_id: 'demo',
    space_id: 's-1',
    caller_id_name: 'Ann',
    caller_id_number: '+15550001',
    post_prompt_data: { parsed: [{ name: 'Ann' }], raw: '{"name":"Ann"}' },
    conversation_summary: 'Ann called.',
    call_log: [],
    raw_call_log: [],
    call_timeline: [],
    swaig_log: [],
    times: [],
    global_data: { a: 1 },
    SWMLVars: { v: 2 },
    SWMLCall: { call_id: 'c-1' },
    call_start_date: 500_000,
    call_answer_date: 900_000,
    call_end_date: 61_000_000,
    ai_start_date: 1_000_000,
    ai_end_date: 61_000_000,
    call_ended_by: 'caller',
  })
})

it('has no summary without one, and the use of engines on demand', () => {
  const log = new AgentLog()
  log.event({
    kind: 'usage',
    at: 1,
    inputTokens: 50,
    outputTokens: 5,
    voiceCharacters: 90,
    recognisedMs: 30_000,
  })
  const params = { appName: 'app', accounting: true } as AgentParams
  const body = reportBody(facts({ log, params, end: { kind: 'limit' } }))
  expect(body).not.toHaveProperty('post_prompt_data')
  expect(body).toMatchObject({
    total_minutes: 1,
    total_input_tokens: 50,
    total_output_tokens_per_minute: 5,
    total_tts_chars: 90,
    total_asr_minutes: 0.5,
    hard_timeout: true,
    call_ended_by: 'agent',
  })
})

it.each([
  ['Ann called.', []],
  ['12', []],
  ['[1]', [[1]]],
  ['```json\n{"a":1}\n```', [{ a: 1 }]],
  [' {"a":1} ', [{ a: 1 }]],
])('parses the summary %j', (raw, parsed) => {
  expect(summaryData(raw)).toEqual({ parsed, raw })
})

it('counts the tokens of each answer', () => {
  const log = new AgentLog()
  const usage = { inputTokens: 50, voiceCharacters: 0, recognisedMs: 0 }
  const answer = { heard: 'Hi', heardMs: 1, isBarged: false, isExact: false, calls: [], stamps: {} }
  for (const outputTokens of [5, 7]) log.event({ kind: 'usage', at: 1, outputTokens, ...usage })
  log.event({ kind: 'answer', at: 1, answer: 'a', spoken: 'Hi', ...answer })
  log.event({ kind: 'answer', at: 1, answer: 'b', spoken: 'Bye', ...answer })
  expect(log.times).toEqual([
    { response: 'Hi', response_word_count: 1, tokens: 12 },
    { response: 'Bye', response_word_count: 1 },
  ])
})
