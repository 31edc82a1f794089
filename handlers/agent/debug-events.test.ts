import { expect, it } from 'vitest'
import { debugBody, debugEvents } from './debug-events.ts'

it('describes turns and answers, and repeats them at level 2', () => {
  expect(debugEvents({ kind: 'user', at: 1, text: 'Hi', by: 'speech', merged: 0, confidence: 0.9 })).toEqual([
    { name: 'speech_detect', value: { text: 'Hi', confidence: 0.9, type: 'normal' }, level: 1 },
    { name: 'conversation_add', value: { role: 'user', content: 'Hi' }, level: 2 },
  ])
  const barge = { kind: 'barge', at: 1, how: 'transparent', heardMs: 300, text: 'wait' } as const
  expect(debugEvents(barge)).toEqual([
    { name: 'barge', value: { barge_type: 'transparent', barge_elapsed_ms: 300, text: 'wait' }, level: 1 },
  ])
  expect(debugEvents({ kind: 'partial', at: 1, text: 'H', isBarge: false })).toEqual([])
})

it('names the call beside the event', () => {
  expect(debugBody({ call_id: 'c-1' }, { name: 'hold', value: { state: 'on' }, level: 1 })).toEqual({
    call_info: { call_id: 'c-1', content_type: 'text/json', content_disposition: 'post_data' },
    hold: { state: 'on' },
  })
})
