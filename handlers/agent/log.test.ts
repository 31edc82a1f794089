import { expect, it } from 'vitest'
import type { AgentEvent } from '../verbs.ts'
import { AgentLog } from './log.ts'

const user = (text: string, at: number, merged = 0): AgentEvent => ({
  kind: 'user',
  at,
  text,
  by: 'speech',
  merged,
})

const answer = (spoken: string, at: number, more: object = {}): AgentEvent => ({
  kind: 'answer',
  at,
  answer: `a-${at}`,
  spoken,
  heard: spoken,
  heardMs: 1200,
  isBarged: false,
  isExact: false,
  calls: [],
  stamps: {},
  ...more,
})

const contents = (log: AgentLog) => log.callLog.map(({ role, content }) => `${role}: ${content}`)

it('keeps turns, answers and results of functions in order', () => {
  const log = new AgentLog()
  log.system('Be kind.', 1)
  log.event({
    ...user('Hello', 2000),
    confidence: 0.9,
    startedAt: 1000,
    endedAt: 1800,
    endedBy: 'silence',
  } as AgentEvent)
  const call = { id: 'c1', name: 'look', args: '{"a":1}' }
  log.event(answer('', 2500, { calls: [call] }))
  log.event({ kind: 'function', at: 3000, call, result: 'found', durationMs: 400, outcome: 'finished' })
  log.event(answer('It is there.', 3500))
  expect(log.callLog).toEqual([
    { role: 'system', content: 'Be kind.', timestamp: 1000 },
    {
      role: 'user',
      content: 'Hello',
      timestamp: 2_000_000,
      confidence: 0.9,
      content_type: 'speech',
      start_timestamp: 1_000_000,
      end_timestamp: 1_800_000,
      speaking_to_final_event: 200,
      eot: { basis: 'silence' },
    },
    {
      role: 'assistant',
      content: '',
      timestamp: 2_500_000,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
    },
    {
      role: 'tool',
      content: 'found',
      timestamp: 3_000_000,
      function_name: 'look',
      tool_call_id: 'c1',
      execution_latency: 400,
    },
    { role: 'assistant', content: 'It is there.', timestamp: 3_500_000 },
  ])
  expect(log.timeline.map(({ type }) => type)).toEqual(['user', 'assistant', 'function_call', 'assistant'])
  expect(log.times).toEqual([{ response: 'It is there.', response_word_count: 3 }])
})

it('has an answer before the results of its calls, although it is reported when it was heard', () => {
  const log = new AgentLog()
  log.event(user('Look', 1))
  const calls = ['c1', 'c2'].map((id) => ({ id, name: 'look', args: '{}' }))
  for (const call of calls)
    log.event({ kind: 'function', at: 2, call, result: call.id, durationMs: 1, outcome: 'finished' })
  log.event(answer('One moment.', 3, { calls }))
  log.event(answer('Found.', 4))
  const order = ['user: Look', 'assistant: One moment.', 'tool: c1', 'tool: c2', 'assistant: Found.']
  expect(contents(log)).toEqual(order)
  expect(log.rawCallLog.map(({ timestamp }) => timestamp)).toEqual([1000, 3000, 2000, 2000, 4000])
})

it('has the stamps and latencies that were measured, and no others', () => {
  const log = new AgentLog()
  const stamps = {
    lastWordEnd: 1_000_000,
    requestSent: 1_300_000,
    firstToken: 1_500_000,
    firstAudio: 1_900_000,
  }
  log.event(answer('Yes.', 2000, { stamps }))
  expect(log.callLog[0]).toEqual({
    role: 'assistant',
    content: 'Yes.',
    timestamp: 2_000_000,
    latency: 200,
    audio_latency: 600,
    acoustic_latency: 900,
    eos_to_push_latency: 300,
    stamps_us: {
      last_word_end: 1_000_000,
      status_pushed: 1_300_000,
      first_token: 1_500_000,
      first_audio: 1_900_000,
    },
  })
  expect(log.times).toEqual([{ response: 'Yes.', response_word_count: 1, answer_time: 0.6, token_time: 0.2 }])
})

it('keeps of an interrupted answer what was heard', () => {
  const log = new AgentLog()
  log.event(answer('One two three.', 10, { isBarged: true, heard: 'One two' }))
  expect(log.callLog[0]).toMatchObject({
    content: 'One two',
    barged: true,
    barge_elapsed_ms: 1200,
    text_heard_approx: 'One two',
    text_spoken_total: 'One two three.',
  })
})

it('drops the turns that a transparent interruption joined, in the history only', () => {
  const log = new AgentLog()
  log.event(user('Earlier', 1))
  log.event(answer('Fine.', 2))
  log.event(user('I want', 3))
  log.event(answer('What', 4, { isBarged: true }))
  log.event({ kind: 'barge', at: 5, how: 'transparent', heardMs: 200, text: 'a table' })
  log.event(user('I want a table', 6, 1))
  log.event(answer('For', 7, { isBarged: true }))
  log.event(user('I want a table for two', 8, 2))
  expect(contents(log)).toEqual(['user: Earlier', 'assistant: Fine.', 'user: I want a table for two'])
  expect(log.callLog[2]).toMatchObject({ merged: true, merge_count: 2 })
  expect(log.rawCallLog).toHaveLength(7)
})

it('keeps earlier histories after a reset', () => {
  const log = new AgentLog()
  log.event(user('Hello', 1))
  log.reset()
  log.event(user('Again', 2))
  expect(contents(log)).toEqual(['user: Again'])
  expect(log.previousContexts).toHaveLength(1)
  expect(log.rawCallLog).toHaveLength(2)
})

it('redacts prompts', () => {
  const log = new AgentLog(true)
  log.system('Secret', 1)
  expect(contents(log)).toEqual(['system: ----'])
})

it('redacts the prompts of contexts, steps and questions', () => {
  const log = new AgentLog(true)
  const at = 1
  for (const name of ['next_step', 'change_context', 'gather_submit', 'book'])
    log.event({
      kind: 'function',
      at,
      call: { id: name, name, args: '{}' },
      result: 'Ask for the PIN.',
      durationMs: 1,
      outcome: 'finished',
    })
  log.prompted('user', 'Begin with the PIN.', at)
  const all = contents(log)
  expect(all).toEqual(['tool: ----', 'tool: ----', 'tool: ----', 'tool: Ask for the PIN.', 'user: ----'])
  expect(JSON.stringify(log.rawCallLog.filter((entry) => entry.function_name !== 'book'))).not.toContain(
    'PIN',
  )
})

it('bounds the memory of long prompts, and says which entries are missing', () => {
  const log = new AgentLog()
  for (let i = 0; i < 100; i++) {
    log.system('x'.repeat(60_000), i)
    log.traced({ at: i, name: 'f', args: '{}', reply: 'y'.repeat(60_000) })
    log.reset()
  }
  for (const list of [log.rawCallLog, log.functions, log.previousContexts])
    expect(JSON.stringify(list).length).toBeLessThan(2_010_000)
  expect(log.rawCallLog[0]).toEqual({
    role: 'system-log',
    content:
      'Older entries are missing, because the log was full: ' +
      '67 of raw_call_log, 67 of previous_contexts, 67 of swaig_log.',
    timestamp: 99_000,
  })
})

it('sums the use of engines, and replaces a result', () => {
  const log = new AgentLog()
  const usage = {
    kind: 'usage',
    at: 1,
    inputTokens: 5,
    outputTokens: 2,
    voiceCharacters: 9,
    recognisedMs: 100,
  } as const
  log.event(usage)
  log.event(usage)
  expect(log.usage).toEqual({ inputTokens: 10, outputTokens: 4, voiceCharacters: 18, recognisedMs: 200 })
  const call = { id: 'c1', name: 'look', args: '{}' }
  log.event({ kind: 'function', at: 3, call, result: 'long', durationMs: 4, outcome: 'failed' })
  log.replaceResult('c1', 'short')
  expect(log.callLog[0]).toMatchObject({ content: 'short', outcome: 'failed' })
})

it('traces requests of functions', () => {
  const log = new AgentLog()
  log.traced({
    at: 1999,
    name: 'f',
    args: '{}',
    url: 'https://x.example/f',
    request: { a: 1 },
    reply: { b: 2 },
  })
  log.traced({ at: 3000, name: 'hangup', args: '{}', isNative: true })
  expect(log.functions).toEqual([
    {
      command_name: 'f',
      command_arg: '{}',
      epoch_time: 1,
      url: 'https://x.example/f',
      post_data: { a: 1 },
      post_response: { b: 2 },
    },
    { command_name: 'hangup', command_arg: '{}', epoch_time: 3, native: true },
  ])
})
