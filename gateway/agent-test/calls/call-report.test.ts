import { expect, it } from 'vitest'
import { readReport } from './call-report.ts'
import { transcriptOf } from './call-transcript.ts'

const zero = 1_700_000_000_000_000

/** Report in the shapes of the log. */
const report = {
  call_answer_date: zero,
  conversation_summary: 'A table was booked.',
  raw_call_log: [
    { role: 'system', content: 'You book tables.', timestamp: zero },
    {
      role: 'assistant-manual',
      content: 'Hello.',
      timestamp: zero + 900_000,
      stamps_us: { first_audio: zero + 200_000 },
    },
    {
      role: 'user',
      content: 'A table for too.',
      timestamp: zero + 2_600_000,
      start_timestamp: zero + 1_040_000,
    },
    {
      role: 'assistant',
      content: '',
      timestamp: zero + 2_700_000,
      tool_calls: [{ id: 'c1', function: { name: 'book', arguments: '{"people":2}' } }],
    },
    {
      role: 'tool',
      content: 'Booked.',
      timestamp: zero + 3_000_000,
      function_name: 'book',
      tool_call_id: 'c1',
      execution_latency: 120,
    },
    {
      role: 'assistant',
      content: 'Your table',
      timestamp: zero + 5_000_000,
      stamps_us: { first_audio: zero + 3_500_000 },
      barged: true,
    },
    { role: 'tool', content: 'Odd.', function_name: 'odd', tool_call_id: 'unknown' },
    'no entry',
  ],
}

it('reads words, functions and the summary of a report, in ms from the answer', () => {
  expect(readReport(report)).toEqual({
    spoken: [
      { who: 'agent', text: 'Hello.', atMs: 200, isInterrupted: false },
      { who: 'caller', text: 'A table for too.', atMs: 1040, isInterrupted: false },
      { who: 'agent', text: 'Your table', atMs: 3500, isInterrupted: true },
    ],
    functions: [
      { name: 'book', args: { people: 2 }, result: 'Booked.', atMs: 2880, durationMs: 120 },
      { name: 'odd', args: {}, result: 'Odd.', atMs: 0 },
    ],
    summary: 'A table was booked.',
  })
})

it('reads a report of another shape as an empty one', () => {
  expect(readReport({ raw_call_log: 'none' })).toEqual({ spoken: [], functions: [] })
  expect(readReport({})).toEqual({ spoken: [], functions: [] })
})

it('joins the words of the report with the voice, and shows what was understood', () => {
  const { spoken } = readReport(report)
  const spans = [
    { fromMs: 220, toMs: 900 },
    { fromMs: 3520, toMs: 4600 },
    { fromMs: 5700, toMs: 6200 },
    { fromMs: 9000, toMs: 9200 },
  ]
  const sounds = [
    { kind: 'turn', text: 'A table for two.', fromMs: 1000, toMs: 2000, turn: 1 },
    { kind: 'cough', text: 'cough', fromMs: 4000, toMs: 4200, turn: 1 },
    { kind: 'keys', text: '1', fromMs: 8000, toMs: 8200, turn: 2 },
  ] as const
  expect(transcriptOf(sounds, spans, spoken)).toEqual([
    { who: 'agent', kind: 'speech', text: 'Hello.', fromMs: 220, toMs: 900 },
    {
      who: 'caller',
      kind: 'turn',
      text: 'A table for two.',
      fromMs: 1000,
      toMs: 2000,
      understood: 'A table for too.',
    },
    { who: 'agent', kind: 'speech', text: 'Your table', fromMs: 3520, toMs: 4600, isInterrupted: true },
    { who: 'caller', kind: 'cough', text: 'cough', fromMs: 4000, toMs: 4200 },
    { who: 'agent', kind: 'speech', fromMs: 5700, toMs: 6200, isContinued: true },
    { who: 'caller', kind: 'keys', text: '1', fromMs: 8000, toMs: 8200 },
    { who: 'agent', kind: 'speech', fromMs: 9000, toMs: 9200 },
  ])
})

it('splits a span in which two answers follow one another', () => {
  const entries = [100, 1500].map((atMs) => ({
    who: 'agent' as const,
    text: `from ${atMs}`,
    atMs,
    isInterrupted: false,
  }))
  expect(transcriptOf([], [{ fromMs: 120, toMs: 3000 }], entries)).toMatchObject([
    { text: 'from 100', fromMs: 120, toMs: 1500 },
    { text: 'from 1500', fromMs: 1500, toMs: 3000 },
  ])
})

it('has spans without words if there is no report', () => {
  expect(transcriptOf([], [{ fromMs: 1, toMs: 2 }], [])).toEqual([
    { who: 'agent', kind: 'speech', fromMs: 1, toMs: 2 },
  ])
})
