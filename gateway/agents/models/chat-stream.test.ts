import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EngineError } from '../streaming/engine-error.ts'
import { ChatStream } from './chat-stream.ts'

/** Reads chunks; returns the text, the end, the calls as `name(args)` with their ids, and the usage. */
const read = (chunks: readonly unknown[]) => {
  const stream = new ChatStream()
  let text = ''
  for (const chunk of chunks)
    text += stream.read(typeof chunk === 'string' ? chunk : JSON.stringify(chunk)).text
  const { how, calls, rest } = stream.end()
  const { usage } = stream
  return {
    text: text + rest,
    how,
    calls: calls.map(({ name, args }) => `${name}(${args})`),
    ids: calls.map(({ id }) => id),
    ...(usage && { usage }),
  }
}

const delta = (content: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: content, finish_reason }],
})
const text = (content: string) => delta({ content })
const tool = (...calls: readonly object[]) => delta({ tool_calls: calls })
const fn = (name: string | undefined, args?: unknown) => ({
  function: { ...(name && { name }), ...(args !== undefined && { arguments: args }) },
})
const end = (reason = 'stop') => delta({}, reason)

test.each([
  ['text in pieces', [delta({ role: 'assistant' }), text('Hel'), text('lo'), end(), '[DONE]'], 'Hello'],
  ['no mark of the end', [text('Hello'), end()], 'Hello'],
  ['neither reason nor mark of the end', [text('Hello')], 'Hello'],
  [
    'content as parts',
    [delta({ content: [{ type: 'text', text: 'Hi' }, { type: 'thinking' }] }), end()],
    'Hi',
  ],
  ['content null', [delta({ content: null }), text('Hi'), end()], 'Hi'],
  [
    'thoughts in fields',
    [delta({ reasoning_content: 'Hm' }), delta({ reasoning: 'Hm' }), text('Hi'), end()],
    'Hi',
  ],
  ['thoughts in tags', [text('<th'), text('ink>No'), text('</thi'), text('nk>Hi'), end()], 'Hi'],
  ['a bracket that is no tag', [text('1 <'), text(' 2 <th'), end()], '1 < 2 <th'],
  ['thoughts without an end', [text('Hi<think>and so on'), end()], 'Hi'],
  ['a refusal', [delta({ refusal: 'I cannot.' }), end()], 'I cannot.'],
  ['a whole message', [{ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }], 'Hi'],
  ['an empty answer', [end(), '[DONE]'], ''],
])('text: %s', (_name, chunks, expected) => {
  expect(read(chunks)).toMatchObject({ text: expected, how: 'completed', calls: [] })
})

const first = { id: 'a', type: 'function', index: 0 }

test.each<[string, readonly unknown[], readonly string[], readonly string[]]>([
  [
    'pieces joined by index',
    [
      tool({ ...first, ...fn('f', '') }),
      tool({ index: 0, ...fn(undefined, '{"x"') }),
      tool({ index: 0, ...fn(undefined, ':1}') }),
    ],
    ['f({"x":1})'],
    ['a'],
  ],
  [
    'two calls whose pieces are mixed',
    [
      tool({ ...first, ...fn('f', '{') }, { id: 'b', index: 1, ...fn('g', '{') }),
      tool({ index: 1, ...fn(undefined, '}') }, { index: 0, ...fn(undefined, '}') }),
    ],
    ['f({})', 'g({})'],
    ['a', 'b'],
  ],
  [
    'no index, one call in each delta',
    [tool({ id: 'a', ...fn('f', '{}') }), tool({ id: 'b', ...fn('f', '{}') })],
    ['f({})', 'f({})'],
    ['a', 'b'],
  ],
  [
    'no index, pieces without an id',
    [tool({ id: 'a', ...fn('f', '{"x"') }), tool(fn(undefined, ':1}'))],
    ['f({"x":1})'],
    ['a'],
  ],
  [
    'no index, the id in each piece',
    [tool({ id: 'a', ...fn('f', '{') }), tool({ id: 'a', ...fn('f', '}') })],
    ['f({})'],
    ['a'],
  ],
  [
    'the same index for each call',
    [tool({ ...first, ...fn('f', '{}') }), tool({ ...first, id: 'b', ...fn('g', '{}') })],
    ['f({})', 'g({})'],
    ['a', 'b'],
  ],
  [
    'the name with each piece',
    [
      tool({ ...first, ...fn('f', '{"x"') }),
      tool({ ...first, ...fn('f', ':"}"') }),
      tool({ ...first, ...fn('f', '}') }),
      tool({ ...first, ...fn('f', '') }),
    ],
    ['f({"x":"}"})'],
    ['a'],
  ],
  ['arguments as an object', [tool({ ...first, ...fn('f', { x: [1] }) })], ['f({"x":[1]})'], ['a']],
  [
    'a whole call in one delta, twice',
    [tool({ ...first, ...fn('f', '{"x":1}') }), tool({ ...first, ...fn('f', '{"x":1}') })],
    ['f({"x":1})'],
    ['a'],
  ],
  ['no arguments at all', [tool({ ...first, ...fn('f') })], ['f({})'], ['a']],
  ['arguments null', [tool({ ...first, ...fn('f', null) })], ['f({})'], ['a']],
  ['faulty arguments, passed on', [tool({ ...first, ...fn('f', '{"x":') })], ['f({"x":)'], ['a']],
  [
    'the older form',
    [delta({ function_call: { name: 'f', arguments: '{' } }), delta({ function_call: { arguments: '}' } })],
    ['f({})'],
    [],
  ],
  ['a call without a name, left out', [tool({ ...first, ...fn(undefined, '{}') })], [], []],
])('calls: %s', (_name, chunks, calls, ids) => {
  for (const reason of ['tool_calls', 'stop', 'function_call']) {
    const answer = read([...chunks, end(reason)])
    expect(answer).toMatchObject({ how: 'completed', calls })
    if (ids.length > 0) expect(answer.ids).toEqual(ids)
  }
})

test('calls without ids have ids of their own', () => {
  const { ids, calls } = read([tool(fn('f', '{}')), tool(fn('f', '{}')), end()])
  expect(calls).toEqual(['f({})', 'f({})'])
  expect(new Set(ids).size).toBe(2)
  expect(ids.every((id) => id.startsWith('call_'))).toBe(true)
})

test('an answer that was cut has no call that was cut', () => {
  const cut = [tool({ ...first, ...fn('f', '{}') }), tool({ index: 1, id: 'b', ...fn('g', '{"x') })]
  expect(read([...cut, end('length')])).toMatchObject({ how: 'incomplete', calls: ['f({})'] })
  expect(read([...cut])).toMatchObject({ how: 'completed', calls: ['f({})'] })
  expect(read([text('Hi'), end('content_filter')]).how).toBe('incomplete')
})

const tokens = { prompt_tokens: 7, completion_tokens: 3 }
const usage = { inputTokens: 7, outputTokens: 3 }

test.each([
  ['in a chunk of its own', [text('Hi'), end(), { choices: [], usage: tokens }, '[DONE]'], usage],
  ['in the last chunk', [text('Hi'), { ...end(), usage: tokens }], usage],
  [
    'in each chunk',
    [
      { ...text('Hi'), usage: { prompt_tokens: 7, completion_tokens: 1 } },
      { ...end(), usage: tokens },
    ],
    usage,
  ],
  ['by other names', [text('Hi'), { ...end(), usage: { input_tokens: 7, output_tokens: 3 } }], usage],
  ['never', [text('Hi'), end()], undefined],
  ['null', [{ ...text('Hi'), usage: null }, end()], undefined],
])('usage: %s', (_name, chunks, expected) => {
  expect(read(chunks).usage).toEqual(expected)
})

test.each([
  [{ error: { message: 'secret text', code: 429 } }, 'limited'],
  [{ error: { message: 'x', code: 'rate_limit_exceeded' } }, 'limited'],
  [{ error: { message: 'x', type: 'invalid_request_error' } }, 'refused'],
  [{ error: { message: 'x', code: 'invalid_api_key' } }, 'unauthorised'],
  [{ error: { message: 'x', type: 'server_error' } }, 'server'],
  [{ error: 'out of memory' }, 'server'],
  [{ object: 'error', message: 'x', code: 400 }, 'refused'],
  ['no json', 'protocol'],
  ['[1]', 'protocol'],
])('%j is an error of the kind %s', (chunk, kind) => {
  const error = failure(() => read([text('Hi'), chunk]))
  expect(error).toMatchObject({ kind })
  expect(error.message).not.toMatch(/secret|memory/)
})

const failure = (run: () => unknown): EngineError => {
  try {
    run()
  } catch (error) {
    return error as EngineError
  }
  throw new Error('an error expected')
}

test('a stream without an answer is an error', () => {
  expect(failure(() => read([{ choices: [] }])).kind).toBe('protocol')
  expect(failure(() => read([])).kind).toBe('protocol')
})

test('text, arguments and calls without end are refused', () => {
  const piece = 'x'.repeat(50_001)
  expect(failure(() => read([text(piece), text(piece)])).kind).toBe('protocol')
  const args = tool({ ...first, ...fn('f', `{"x": "${piece}`) })
  expect(failure(() => read(Array.from({ length: 6 }, () => args))).kind).toBe('protocol')
  const calls = Array.from({ length: 65 }, (_, index) => tool({ index, id: `${index}`, ...fn('f', '{}') }))
  expect(failure(() => read(calls)).kind).toBe('protocol')
})

test('any division of the content gives the same spoken text', () => {
  const part = fc.constantFrom(
    '<think>',
    '</think>',
    '<',
    'a',
    'think>',
    '</',
    '<thinking>',
    '</thinking>',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.nat(), (parts, seed) => {
      const whole = parts.join('')
      const cut = whole.length === 0 ? 0 : seed % whole.length
      const pieces = [whole.slice(0, cut), ...whole.slice(cut)]
      expect(read([...pieces.map(text), end()]).text).toBe(read([text(whole), end()]).text)
    }),
  )
})
