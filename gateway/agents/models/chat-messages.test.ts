import { expect, test } from 'vitest'
import { chatMessages } from './chat-messages.ts'

const call = (id: string, args = '{"x":1}') => ({ id, name: 'f', args })
const toolCall = (id: string, args = '{"x":1}') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
})

test('results follow the answer that called, whatever came between', () => {
  expect(
    chatMessages([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Wait.', calls: [call('a'), call('b')] },
      { role: 'tool', callId: 'b', name: 'f', content: 'two' },
      { role: 'user', content: 'Hello?' },
      { role: 'tool', callId: 'a', name: 'f', content: 'one' },
    ]),
  ).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Wait.', tool_calls: [toolCall('a'), toolCall('b')] },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    { role: 'tool', tool_call_id: 'b', content: 'two' },
    { role: 'user', content: 'Hello?' },
  ])
})

test('each call has a result, and arguments are an object', () => {
  expect(
    chatMessages([{ role: 'assistant', content: '', calls: [call('a', '{"x":'), call('b', '[1]')] }]),
  ).toEqual([
    { role: 'assistant', content: null, tool_calls: [toolCall('a', '{}'), toolCall('b', '{}')] },
    { role: 'tool', tool_call_id: 'a', content: 'No result yet: the function still runs.' },
    { role: 'tool', tool_call_id: 'b', content: 'No result yet: the function still runs.' },
  ])
})

test('a result without a call is a message of the user', () => {
  expect(chatMessages([{ role: 'tool', callId: 'a', name: 'f', content: 'one' }])).toEqual([
    { role: 'user', content: 'Result of the function f: one' },
  ])
})

test('later system messages may have another role', () => {
  const messages = [
    { role: 'system', content: 'A' },
    { role: 'system', content: 'B' },
  ] as const
  expect(chatMessages(messages, 'user').map(({ role }) => role)).toEqual(['system', 'user'])
  expect(chatMessages(messages).map(({ role }) => role)).toEqual(['system', 'system'])
})
