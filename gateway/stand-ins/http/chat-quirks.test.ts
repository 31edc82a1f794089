import { afterEach, describe, expect, it } from 'vitest'
import { openStandIns, type StandIns } from '../open-stand-ins.ts'
import { scriptOf } from '../read-script.ts'

let standIns: StandIns

afterEach(() => standIns.close())

type Json = Readonly<Record<string, unknown>>

/** Asks for a streamed completion of these actions. Returns the events, as text. */
const streamed = async (...actions: readonly object[]): Promise<readonly string[]> => {
  standIns = await openStandIns({ script: scriptOf({ rules: [{ do: actions }] }) })
  const parameters = { type: 'object', properties: { people: { type: 'integer' } } }
  const response = await fetch(`${standIns.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'a table for 2' }],
      tools: [{ type: 'function', function: { name: 'book', parameters } }],
    }),
  })
  return (await response.text()).split('\n\n').filter((event) => event !== '')
}

const chunksOf = (events: readonly string[]): readonly Json[] =>
  events.flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6)) as Json] : []))

const choicesOf = (chunks: readonly Json[]): readonly Json[] =>
  chunks.flatMap(({ choices }) => (Array.isArray(choices) ? (choices as Json[]) : []))

/** Pieces of calls, in order. */
const callsOf = (events: readonly string[]): readonly Json[] =>
  choicesOf(chunksOf(events)).flatMap(({ delta }) => ((delta as Json).tool_calls as Json[] | undefined) ?? [])

const textOf = (events: readonly string[]): string =>
  choicesOf(chunksOf(events))
    .map(({ delta }) => String((delta as Json).content ?? ''))
    .join('')

const finishOf = (events: readonly string[]): unknown =>
  choicesOf(chunksOf(events)).findLast(({ finish_reason }) => finish_reason !== null)?.finish_reason

describe('a call in chat completions', () => {
  const call = { call: true }

  it('comes in pieces with an index, and its id and name once', async () => {
    const events = await streamed(call)
    const pieces = callsOf(events)
    expect(pieces).toEqual([
      {
        index: 0,
        id: expect.stringMatching(/^call_/),
        type: 'function',
        function: { name: 'book', arguments: '' },
      },
      { index: 0, function: { arguments: '{"peop' } },
      { index: 0, function: { arguments: 'le":2}' } },
    ])
    expect(finishOf(events)).toBe('tool_calls')
    expect(events.at(-1)).toBe('data: [DONE]')
  })

  it.each<[string, (pieces: readonly Json[], events: readonly string[]) => void]>([
    ['no-index', (pieces) => expect(pieces.every((piece) => !('index' in piece))).toBe(true)],
    ['no-id', (pieces) => expect(pieces.every((piece) => !('id' in piece))).toBe(true)],
    [
      'repeat-name',
      (pieces) =>
        expect(pieces.map((piece) => (piece.function as Json).name)).toEqual(['book', 'book', 'book']),
    ],
    [
      'object-arguments',
      (pieces) => expect(pieces).toMatchObject([{ function: { name: 'book', arguments: { people: 2 } } }]),
    ],
    [
      'whole-call',
      (pieces) => expect(pieces).toMatchObject([{ function: { name: 'book', arguments: '{"people":2}' } }]),
    ],
    ['stop-finish', (_, events) => expect(finishOf(events)).toBe('stop')],
  ])('has the quirk %s', async (quirk, check) => {
    const events = await streamed({ quirk }, call)
    check(callsOf(events), events)
    expect(callsOf(events).length).toBeGreaterThan(0)
  })
})

describe('a text in chat completions', () => {
  const say = { say: 'One two three four.' }
  const usagesOf = (events: readonly string[]) =>
    chunksOf(events).map(({ choices, usage }) => [(choices as Json[]).length, usage !== undefined])

  it('comes in words, with the usage in a chunk of its own', async () => {
    const events = await streamed(say)
    expect(textOf(events)).toBe('One two three four.')
    expect(usagesOf(events).slice(-2)).toEqual([
      [1, false],
      [0, true],
    ])
  })

  it.each<[string, (events: readonly string[]) => void]>([
    ['no-usage', (events) => expect(usagesOf(events).every(([, hasUsage]) => !hasUsage)).toBe(true)],
    ['usage-in-last', (events) => expect(usagesOf(events).at(-1)).toEqual([1, true])],
    ['comments', (events) => expect(events).toContain(': keep-alive')],
    [
      'reasoning',
      (events) =>
        expect(choicesOf(chunksOf(events)).some(({ delta }) => 'reasoning_content' in (delta as Json))).toBe(
          true,
        ),
    ],
    ['malformed', (events) => expect(events.some((event) => /^data: \{.*[^}]$/.test(event))).toBe(true)],
    ['unknown', (events) => expect(events.join('')).toContain('stand_in.unknown')],
  ])('has the quirk %s', async (quirk, check) => {
    const events = await streamed({ quirk }, say)
    check(events)
    expect(events.at(-1)).toBe('data: [DONE]')
  })

  it('has thoughts in tags', async () => {
    expect(textOf(await streamed({ quirk: 'think-tags' }, say))).toMatch(/^<think>.*<\/think>One two/)
  })

  it('ends in the middle with an error', async () => {
    const events = await streamed({ quirk: 'stream-error' }, say)
    expect(textOf(events)).toBe('One two')
    expect(chunksOf(events).at(-1)).toMatchObject({ error: { code: 500 } })
    expect(events.at(-1)).not.toBe('data: [DONE]')
  })
})
