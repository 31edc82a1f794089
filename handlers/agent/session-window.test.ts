import { expect, it } from 'vitest'
import type { AgentEvent } from '../verbs.ts'
import { SlidingWindow } from './session-window.ts'
import { SessionRig } from './testing/session-rig.ts'

const user = (text: string, merged = 0): AgentEvent => ({ kind: 'user', at: 1, text, by: 'speech', merged })
const answer = (spoken: string, more: object = {}): AgentEvent => ({
  kind: 'answer',
  at: 1,
  answer: 'a',
  spoken,
  heard: spoken,
  heardMs: 1,
  isBarged: false,
  isExact: false,
  calls: [],
  stamps: {},
  ...more,
})

it('keeps the latest turns with their answers and results, in steps', () => {
  const window = new SlidingWindow(2, [{ role: 'user', content: '0' }])
  const call = { id: 'c', name: 'book', args: '{}' }
  expect(window.event(user('1'))).toBeUndefined()
  expect(window.event(answer('one'))).toBeUndefined()
  window.event(user('2'))
  window.event(answer('wait', { calls: [call] }))
  window.event({ kind: 'function', at: 1, call, result: 'Booked.', durationMs: 1, outcome: 'finished' })
  expect(window.event(answer('two'))).toEqual([
    { role: 'user', content: '1' },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: '2' },
    { role: 'assistant', content: 'wait' },
    { role: 'system', content: 'Result of book: Booked.' },
    { role: 'assistant', content: 'two' },
  ])
})

it('drops turns that a later one contains, but no results', () => {
  const window = new SlidingWindow(1, [])
  const call = { id: 'c', name: 'book', args: '{}' }
  window.event(user('0'))
  window.event(user('I want'))
  window.event(answer('Yes', { isBarged: true }))
  window.event({ kind: 'function', at: 1, call, result: 'Done.', durationMs: 1, outcome: 'finished' })
  window.event(user('I want tea', 1))
  expect(window.event(answer('Here', { isBarged: true, heard: 'He' }))).toBeUndefined()
  expect(window.event(answer('Here'))).toEqual([
    { role: 'user', content: 'I want tea' },
    { role: 'assistant', content: 'He' },
    { role: 'assistant', content: 'Here' },
  ])
})

it('begins anew with another history', () => {
  const window = new SlidingWindow(1, [{ role: 'user', content: '0' }])
  window.replace([{ role: 'system', content: 'Conversation so far: tea.' }])
  window.event(user('1'))
  expect(window.event(answer('one'))).toBeUndefined()
})

it('limits what the model sees, which contains messages from outside', async () => {
  const rig = new SessionRig()
  const agent = await rig.start({ params: { conversation_sliding_window: 1 } })
  agent.hear('1')
  agent.speak('one')
  expect(agent.of('change')).toEqual([])
  agent.hear('2')
  await rig.session?.message({ role: 'system', content: 'Hurry.' })
  await rig.session?.message({ role: 'user', content: 'By text' })
  agent.speak('two')
  const history = [
    { role: 'user', content: '2' },
    { role: 'system', content: 'Hurry.' },
    { role: 'assistant', content: 'two' },
  ]
  expect(agent.of('change')).toEqual([[{ history }]])
})
