import { describe, expect, it } from 'vitest'
import {
  argumentsFor,
  containsPhrase,
  Dialogue,
  delegated,
  fillIn,
  type OfferedFunction,
  speechText,
  type Trigger,
} from './dialogue.ts'
import { scriptOf } from './read-script.ts'

const noon = Date.UTC(2026, 0, 1, 12, 5)

/** Dialogue whose rules are named by what they say. */
const dialogueOf = (...rules: (readonly [when: unknown, text: string, more?: object])[]) =>
  new Dialogue(
    scriptOf({ rules: rules.map(([when, say, more]) => ({ when, do: [{ say }], ...more })) }),
    () => noon,
  )

const turn = (text: string, more: object = {}): Trigger => ({ on: 'turn', turn: 1, text, ...more })

const saidBy = (
  dialogue: Dialogue,
  trigger: Trigger,
  functions: readonly OfferedFunction[] = [],
): string | undefined => {
  const [action] = dialogue.choose('chat', trigger, functions)?.actions ?? []
  return action?.kind === 'say' ? action.text : undefined
}

describe('a dialogue', () => {
  it('answers by the first rule that is true', () => {
    const dialogue = dialogueOf(['begin', 'greeting'], [{ contains: 'tea' }, 'tea'], ['any', 'other'])
    expect(saidBy(dialogue, { on: 'begin' })).toBe('greeting')
    expect(saidBy(dialogue, turn('Green tea, please'))).toBe('tea')
    expect(saidBy(dialogue, turn('Steam'))).toBe('other')
    expect(saidBy(dialogue, { on: 'connect' })).toBeUndefined()
  })

  it('uses a rule as often as it may, over all engines, until other rules follow', () => {
    const dialogue = dialogueOf(['any', 'once', { times: 1 }], ['any', 'then'])
    expect(saidBy(dialogue, turn('a'))).toBe('once')
    expect(dialogue.choose('live', turn('b'))?.actions).toMatchObject([{ text: 'then' }])
    dialogue.follow(scriptOf({ rules: [{ do: [{ say: 'new' }] }] }).rules)
    expect(saidBy(dialogue, turn('c'))).toBe('new')
  })

  it.each<[object, Trigger, boolean]>([
    [{ turn: 2 }, turn('a', { turn: 2 }), true],
    [{ turn: 2 }, turn('a'), false],
    [{ pattern: '^[0-9]+$' }, turn('42'), true],
    [{ pattern: '^[0-9]+$' }, turn('4 2'), false],
    [{ interrupted: true }, turn('a', { isInterruption: true }), true],
    [{ interrupted: false }, turn('a', { isInterruption: true }), false],
    [{ result: 'book' }, { on: 'result', turn: 1, name: 'book', result: '1' }, true],
    [{ result: 'book' }, { on: 'result', turn: 1, name: 'cancel', result: '1' }, false],
    [{ engine: 'live' }, turn('a'), false],
    [{ engine: ['live', 'chat'] }, turn('a'), true],
  ])('takes %j of %j for %s', (when, trigger, isTrue) => {
    expect(saidBy(dialogueOf([when, 'yes']), trigger) === 'yes').toBe(isTrue)
  })

  it('finds functions by parts of their names', () => {
    const offers = (offered: unknown, ...names: string[]) =>
      dialogueOf([{ offers: offered }, 'yes']).choose(
        'chat',
        turn('a'),
        names.map((name) => ({ name })),
      )?.offered?.name
    expect(offers('hangup', 'check', 'hang_up_call')).toBe('hang_up_call')
    expect(offers(['x', 'check'], 'Check-Time')).toBe('Check-Time')
    expect(offers('*', 'hangup', 'transfer_call', 'book')).toBe('book')
    expect(offers('*', 'hangup')).toBeUndefined()
    expect(offers('book')).toBeUndefined()
  })

  it('takes a delegated function for any', () => {
    const dialogue = dialogueOf([{ offers: 'hangup' }, 'yes'])
    expect(saidBy(dialogue, turn('a'), [delegated])).toBe('yes')
    expect(saidBy(dialogueOf([{ offers: '*' }, 'yes']), turn('a'), [delegated])).toBe('yes')
  })

  it('lets parts of a pipeline follow only rules that name them', () => {
    const dialogue = dialogueOf(['any', 'all'], [{ engine: 'vosk' }, 'vosk'])
    expect(dialogue.chooseNamed('vosk', turn('a'))?.actions).toMatchObject([{ text: 'vosk' }])
    expect(dialogue.chooseNamed('speech', turn('a'))).toBeUndefined()
  })

  it('has variables of the trigger', () => {
    const variablesOf = (when: unknown, trigger: Trigger) =>
      dialogueOf([when, 'x']).choose('chat', trigger)?.variables
    const time = '12:05'
    expect(variablesOf('any', turn('hi', { speechMs: 1234 }))).toEqual({
      time,
      text: 'hi',
      turn: '1',
      seconds: '1.2',
    })
    expect(variablesOf('any', turn(speechText(3300)))).toMatchObject({ seconds: '3.3' })
    expect(variablesOf('any', turn('one two three four five'))).toMatchObject({ seconds: '2.0' })
    expect(variablesOf('begin', { on: 'begin' })).toEqual({ time })
    const result = (text: string) =>
      variablesOf('result', { on: 'result', turn: 2, name: 'f', result: text })?.result
    expect([result('plain'), result('"text"'), result('{"time":"noon"}'), result('{"a":1,"b":2}')]).toEqual([
      'plain',
      'text',
      'noon',
      '{"a":1,"b":2}',
    ])
  })
})

it.each([
  ['I want a table.', 'table', true],
  ['I want tables', 'table', false],
  ['I want tables', 'table*', true],
  ['A TABLE for two', 'table for two', true],
  ['A table, for two', 'table for', true],
  ['Straßenbahn', 'straße', false],
])('in "%s", "%s" is a phrase: %s', (text, phrase, isPhrase) =>
  expect(containsPhrase(text, phrase)).toBe(isPhrase),
)

it('fills variables in, and leaves unknown ones', () => {
  expect(fillIn('{{a}} {{b}} {{A}}', { a: '1' })).toBe('1 {{b}} {{A}}')
})

it('makes arguments that fit a schema', () => {
  const properties = {
    name: { type: 'string' },
    people: { type: 'INTEGER' },
    size: { enum: ['small', 'large'] },
    isUrgent: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    address: { type: 'object', properties: { street: { type: 'string' } } },
    note: { type: 'string' },
  }
  const required = ['name', 'people', 'size', 'isUrgent', 'tags', 'address']
  const text = 'A large table for 4'
  expect(argumentsFor({ properties, required }, text)).toEqual({
    name: text,
    people: 4,
    size: 'large',
    isUrgent: true,
    tags: [text],
    address: { street: text },
  })
  expect(argumentsFor({ properties: { people: { type: 'number' }, size: { enum: ['a'] } } }, 'x')).toEqual({
    people: 1,
    size: 'a',
  })
  expect([argumentsFor(undefined, 'x'), argumentsFor({ type: 'object' }, 'x')]).toEqual([{}, {}])
})
