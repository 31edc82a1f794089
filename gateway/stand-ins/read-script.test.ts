import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readScript, readScriptFile, scriptOf } from './read-script.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'script-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

describe('a script of the stand-ins', () => {
  it('has values for what it does not say', () => {
    expect(scriptOf({})).toEqual({ pace: 20, hears: [], rules: [] })
    expect(scriptOf(undefined)).toEqual({ pace: 20, hears: [], rules: [] })
    expect(scriptOf({ rules: [{ do: [] }] }).rules).toEqual([{ when: { on: 'turn' }, actions: [] }])
  })

  it('has conditions as words, or as mappings', () => {
    const conditionsOf = (...conditions: unknown[]) =>
      scriptOf({ rules: conditions.map((when) => ({ when, do: [] })) }).rules.map(({ when }) => when)
    expect(conditionsOf('any', 'begin', 'connect', 'result')).toEqual([
      { on: 'turn' },
      { on: 'begin' },
      { on: 'connect' },
      { on: 'result' },
    ])
    expect(
      conditionsOf(
        { contains: 'tea', turn: 2, interrupted: true, offers: ['book'], engine: 'chat' },
        { result: 'book' },
        { on: 'begin', engine: ['chat', 'live'] },
        { pattern: '^a+$' },
      ),
    ).toEqual([
      { on: 'turn', contains: ['tea'], turn: 2, interrupted: true, offers: ['book'], engines: ['chat'] },
      { on: 'result', result: 'book' },
      { on: 'begin', engines: ['chat', 'live'] },
      { on: 'turn', pattern: /^a+$/iu },
    ])
  })

  it('has actions of each kind', () => {
    writeFileSync(join(folder, 'a.wav'), 'x')
    const text = `
pace: 0
hears: [one, two]
key: secret
rules:
  - times: 2
    do:
      - after: 300
      - say: Hello.
      - say: { text: Slow., pace: 1, cut: 500 }
      - wav: a.wav
      - wav: { file: a.wav, text: words }
      - tone: { hz: 400, ms: 100 }
      - silence: 500
      - call: true
      - call: book
      - call: { arguments: { people: 2 }, cut: true }
      - quirk: twice
      - error: limited
      - close: true
      - close: abrupt
      - close: 4001
      - stall: true
`
    const { pace, hears, key, rules } = readScript(text, folder)
    expect([pace, hears, key, rules[0]?.times]).toEqual([0, ['one', 'two'], 'secret', 2])
    const file = join(folder, 'a.wav')
    expect(rules[0]?.actions).toEqual([
      { kind: 'after', ms: 300 },
      { kind: 'say', text: 'Hello.', sound: { kind: 'speech' } },
      { kind: 'say', text: 'Slow.', sound: { kind: 'speech' }, pace: 1, cutMs: 500 },
      { kind: 'say', text: '', sound: { kind: 'file', file } },
      { kind: 'say', text: 'words', sound: { kind: 'file', file } },
      { kind: 'say', text: '', sound: { kind: 'tone', hz: 400, ms: 100 } },
      { kind: 'say', text: '', sound: { kind: 'silence', ms: 500 } },
      { kind: 'call', isCut: false },
      { kind: 'call', name: 'book', isCut: false },
      { kind: 'call', args: { people: 2 }, isCut: true },
      { kind: 'quirk', name: 'twice' },
      { kind: 'error', error: 'limited' },
      { kind: 'close', how: 1000 },
      { kind: 'close', how: 'abrupt' },
      { kind: 'close', how: 4001 },
      { kind: 'stall' },
    ])
  })

  it.each<[string, unknown, string]>([
    ['a list', [], 'script: a mapping expected'],
    [
      'an unknown field',
      { rule: [] },
      'script: unknown field `rule`; one of pace, hears, key, rules expected',
    ],
    ['a pace', { pace: -1 }, 'pace: a number from 0 to 1000 expected'],
    ['texts', { hears: [1] }, 'hears[0]: a text expected'],
    ['rules', { rules: {} }, 'rules: a list expected'],
    ['no actions', { rules: [{}] }, 'rules[0].do: a list expected'],
    [
      'an unknown trigger',
      { rules: [{ when: 'later', do: [] }] },
      'rules[0].when: one of connect, begin, turn, result, any expected',
    ],
    [
      'a faulty pattern',
      { rules: [{ when: { pattern: '(' }, do: [] }] },
      'rules[0].when.pattern: a regular expression of JavaScript expected',
    ],
    [
      'an unknown engine',
      { rules: [{ when: { engine: 'x' }, do: [] }] },
      'rules[0].when.engine: one of realtime, live,',
    ],
    ['no uses', { rules: [{ times: 0, do: [] }] }, 'rules[0].times: a number from 1 to'],
    [
      'two actions in one',
      { rules: [{ do: [{ say: 'a', after: 1 }] }] },
      'rules[0].do[0]: one action of after,',
    ],
    ['an unknown action', { rules: [{ do: [{ toString: 1 }] }] }, 'rules[0].do[0]: one action of after,'],
    ['an unknown quirk', { rules: [{ do: [{ quirk: 'x' }] }] }, 'rules[0].do[0].quirk: one of malformed,'],
    [
      'a code of a close',
      { rules: [{ do: [{ close: 1005 }] }] },
      'rules[0].do[0].close: `true`, `abrupt`, or',
    ],
    ['no stall', { rules: [{ do: [{ stall: false }] }] }, 'rules[0].do[0].stall: `true` expected'],
    [
      'a missing file',
      { rules: [{ do: [{ wav: '/no/such.wav' }] }] },
      'rules[0].do[0].wav.file: a readable file',
    ],
  ])('names the field and the expectation: %s', (_what, script, message) => {
    expect(() => scriptOf(script)).toThrow(message)
  })

  it('names the file, too', () => {
    const file = join(folder, 'script.yaml')
    writeFileSync(file, 'pace: fast')
    expect(() => readScriptFile(file)).toThrow(`${file}: pace: a number from 0 to 1000 expected`)
    writeFileSync(file, 'pace: [')
    expect(() => readScriptFile(file)).toThrow(`${file}: `)
    expect(() => readScriptFile(join(folder, 'none.yaml'))).toThrow('cannot be read (ENOENT)')
    writeFileSync(file, '{"pace": 3}')
    expect(readScriptFile(file).pace).toBe(3)
  })
})
