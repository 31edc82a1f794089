import { expect, it } from 'vitest'
import { dataMapEvents, debugBody, debugEvents } from './debug-events.ts'

it('describes turns and answers, and repeats them at level 2', () => {
  expect(debugEvents({ kind: 'user', at: 1, text: 'Hi', by: 'speech', merged: 0, confidence: 0.9 })).toEqual([
    { name: 'speech_detect', value: { text: 'Hi', confidence: 0.9, type: 'normal' }, level: 1 },
    { name: 'conversation_add', value: { role: 'user', content: 'Hi' }, level: 2 },
  ])
  const barge = { kind: 'barge', at: 1, how: 'transparent', heardMs: 300, text: 'wait' } as const
  expect(debugEvents(barge)).toEqual([
    { name: 'barge', value: { barge_type: 'transparent', barge_elapsed_ms: 300, text: 'wait' }, level: 1 },
  ])
  expect(debugEvents({ ...barge, how: 'given-up', text: '' })).toEqual([
    { name: 'answer_given_up', value: { audio_played_ms: 300 }, level: 1 },
  ])
  expect(debugEvents({ kind: 'partial', at: 1, text: 'H', isBarge: false })).toEqual([])
})

it('marks an answer that was given up as interrupted, with a member of its own', () => {
  const answer = {
    kind: 'answer',
    at: 1,
    answer: 'a',
    spoken: 'One two',
    heard: 'One',
    heardMs: 300,
    isBarged: true,
    isExact: false,
    calls: [],
    stamps: {},
  } as const
  const ofCompletion = (of: Parameters<typeof debugEvents>[0]) => debugEvents(of)[0]?.value
  const barged = { text: 'One', type: 'barged', audio_played_ms: 300 }
  expect(ofCompletion(answer)).toEqual(barged)
  expect(ofCompletion({ ...answer, isGivenUp: true })).toEqual({ ...barged, given_up: true })
})

it('names the call beside the event', () => {
  expect(debugBody({ call_id: 'c-1' }, { name: 'hold', value: { state: 'on' }, level: 1 })).toEqual({
    call_info: { call_id: 'c-1', content_type: 'text/json', content_disposition: 'post_data' },
    hold: { state: 'on' },
  })
})

it('names the events of data maps', () => {
  const named = (...of: Parameters<typeof dataMapEvents>) =>
    dataMapEvents(...of).map(({ name, value }) => [name, value])
  expect(named({ kind: 'input', args: { a: 1 } })).toEqual([['input', { args: { a: 1 } }]])
  const tried = { kind: 'expression', text: 'a', expression: '^a', isMatch: true } as const
  expect(named(tried)).toEqual([
    ['expression', { string: 'a', expression: '^a', matched: true }],
    ['match', { string: 'a', expression: '^a' }],
  ])
  expect(named({ ...tried, isMatch: false }).map(([name]) => name)).toEqual(['expression'])
  expect(named({ kind: 'expression-fail', expression: '(', reason: 'Bad.' })).toEqual([
    ['expression', { expression: '(', error: 'Bad.' }],
  ])
  expect(named({ kind: 'webhook', method: 'GET', url: 'https://a.example/' })).toEqual([
    ['webhook', { method: 'GET', url: 'https://a.example/' }],
  ])
  expect(named({ kind: 'reply', status: 200, text: '{}' })).toEqual([
    ['webhook_reply', { http_code: 200, body: '{}' }],
  ])
  expect(named({ kind: 'fail', reason: 'status 503', attempts: 2, status: 503 })).toEqual([
    ['webhook_fail', { attempts: 2, http_code: 503, reason: 'status 503' }],
  ])
  expect(named({ kind: 'error-keys', key: 'error' })).toEqual([['error_keys', { key: 'error' }]])
  expect(named({ kind: 'output', output: 1 })).toEqual([['output', { output: 1 }]])
})
