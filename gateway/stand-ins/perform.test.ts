import { expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Dialogue, type OfferedFunction } from './dialogue.ts'
import { type Performer, perform, type ScriptedCall } from './perform.ts'
import { scriptOf } from './read-script.ts'
import type { QuirkName } from './script-types.ts'

/** Performer that writes down what it is asked for. */
class Notes implements Performer {
  readonly quirks = new Set<QuirkName>()
  readonly lines: string[] = []
  readonly calls: ScriptedCall[] = []

  async say({ text, pace, cutMs }: Parameters<Performer['say']>[0]): Promise<void> {
    this.lines.push(`say ${text} ${pace} ${cutMs ?? ''}`.trimEnd())
  }

  call(call: ScriptedCall): void {
    this.calls.push(call)
    this.lines.push(`call ${call.name} ${call.args}${call.isCut ? ' cut' : ''}`)
  }

  inject = (quirk: string) => void this.lines.push(`inject ${quirk}`)
  error = (kind: string) => void this.lines.push(`error ${kind}`)
  close = (how: number | string) => void this.lines.push(`close ${how}`)
  stall = () => void this.lines.push('stall')
}

const set = (actions: readonly object[], functions: readonly OfferedFunction[] = []) => {
  const clock = new FakeClock()
  const notes = new Notes()
  const dialogue = new Dialogue(scriptOf({ rules: [{ do: actions }] }), () => 0)
  const answer = dialogue.choose('chat', { on: 'turn', turn: 1, text: 'tea for 2' }, functions)!
  const stop = new AbortController()
  const stage = { clock, sounds: {} as never, pace: 20 }
  return { clock, notes, stop, run: perform(answer, notes, stage, stop.signal) }
}

const book = {
  name: 'book',
  parameters: { type: 'object', properties: { people: { type: 'integer' } } },
}

/** Lets everything that waits for no timer happen. */
const settle = () => new Promise(setImmediate)

it('carries out actions in order, with the variables of the turn', async () => {
  const { notes, run } = set([{ say: 'You said {{text}}.' }, { say: { text: 'Slow', pace: 1, cut: 9 } }])
  await run
  expect(notes.lines).toEqual(['say You said tea for 2. 20', 'say Slow 1 9'])
})

it('waits by the clock, and not after an interruption', async () => {
  const { clock, notes, stop, run } = set([
    { say: 'a' },
    { after: 300 },
    { say: 'b' },
    { after: 300 },
    { say: 'c' },
  ])
  await settle()
  clock.advance(299)
  await settle()
  expect(notes.lines).toEqual(['say a 20'])
  clock.advance(1)
  await settle()
  expect(notes.lines).toEqual(['say a 20', 'say b 20'])
  stop.abort()
  await run
  expect([notes.lines.length, clock.running]).toEqual([2, 0])
})

it('calls the function that is named, offered, or the first one', async () => {
  const other = { name: 'other' }
  const named = set([{ call: 'other' }, { call: { name: 'unknown', arguments: '{{text}' } }], [book, other])
  const first = set([{ call: true }, { call: { arguments: { people: 3 }, cut: true } }], [book, other])
  await Promise.all([named.run, first.run])
  expect(named.notes.lines).toEqual(['call other {}', 'call unknown {{text}'])
  expect(first.notes.lines).toEqual(['call book {"people":2}', 'call book {"people":3} cut'])
  expect(new Set(first.notes.calls.map(({ id }) => id)).size).toBe(2)
  const none = set([{ call: true }, { say: 'a' }])
  await none.run
  expect(none.notes.lines).toEqual(['say a 20'])
})

it('gives the next answer twice, with the same call', async () => {
  const { notes, run } = set(
    [{ quirk: 'twice' }, { call: true }, { say: 'a' }, { quirk: 'twice' }, { say: 'b' }],
    [book],
  )
  await run
  expect(notes.lines.map((line) => line.slice(0, 6))).toEqual([
    'call b',
    'call b',
    'say a ',
    'say b ',
    'say b ',
  ])
  expect(notes.calls[0]!.id).toBe(notes.calls[1]!.id)
})

it('injects quirks that are messages, and keeps the others', async () => {
  const { notes, run } = set([
    { quirk: 'malformed' },
    { quirk: 'no-id' },
    { quirk: 'huge' },
    { quirk: 'unknown' },
  ])
  await run
  expect(notes.lines).toEqual(['inject malformed', 'inject huge', 'inject unknown'])
  expect([...notes.quirks]).toEqual(['no-id'])
})

it.each([
  [{ error: 'limited' }, 'error limited'],
  [{ close: 'abrupt' }, 'close abrupt'],
  [{ close: 4001 }, 'close 4001'],
  [{ stall: true }, 'stall'],
])('ends with %j', async (action, line) => {
  const { notes, run } = set([{ say: 'a' }, action, { say: 'b' }])
  await run
  expect(notes.lines).toEqual(['say a 20', line])
})
