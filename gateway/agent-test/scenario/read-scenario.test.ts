import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigInvalid, explanationOf } from '../../../config/faults.ts'
import { readScenario } from './read-scenario.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scenario-'))
  for (const name of ['agent.yaml', 'answers.yaml', 'trunkline.yaml', 'hello.wav'])
    writeFileSync(join(folder, name), '{}')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (text: string, env = {}) => {
  writeFileSync(join(folder, 'test.yaml'), text)
  return readScenario(join(folder, 'test.yaml'), env)
}

/** Returns the faults of a scenario as `line path: message`. */
const faults = (text: string): readonly string[] => {
  try {
    read(text)
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return error.faults.map((fault) => `${fault.line} ${fault.path}: ${explanationOf(fault)}`)
  }
  return []
}

const steps = (...lines: readonly string[]): string =>
  ['target: { document: agent.yaml }', 'caller:', ...lines.map((line) => `  - ${line}`)].join('\n')

it('reads a scenario with every key', () => {
  const scenario = read(
    `
name: Books
target: { document: agent.yaml, standIns: answers.yaml }
from: "+15550100"
voice: kal
silence: -45dB
server: 127.0.0.1:3000
functions:
  book: Booked.
  cancel: { response: Cancelled., action: [{ hangup: true }], delay: 1.5s }
caller:
  - wait: agent
    within: 20s
  - say: Hello \${NAME}.
  - say: { wav: hello.wav, text: Hi }
  - pause: 800ms
  - over: Mm-hmm
    after: 2s
  - interrupt: Stop
  - cough
  - cough: 400ms
    within: 5s
  - keys: "12#"
  - echo: -20dB
    delay: 60ms
  - echo: off
  - noise: street -30dB
  - loss: 2.5%
  - wait: end
  - hangup
expect:
  gap: 1s
  yield: 400ms
  goOn: 300ms
  endedBy: agent
  calls: [book, { function: cancel, arguments: { id: 1 }, times: 0 }]
  says: booked
  saysNever: [sorry, "cannot"]
`,
    { NAME: 'Ann' },
  )
  const over = { afterMs: 1000, withinMs: 15_000 }
  expect(scenario).toEqual({
    name: 'Books',
    target: {
      kind: 'document',
      file: join(folder, 'agent.yaml'),
      standIns: join(folder, 'answers.yaml'),
    },
    from: '+15550100',
    voice: 'kal',
    silenceDb: -45,
    server: { host: '127.0.0.1', port: 3000 },
    functions: new Map([
      ['book', { delayMs: 0, body: { response: 'Booked.' } }],
      ['cancel', { delayMs: 1500, body: { response: 'Cancelled.', action: [{ hangup: true }] } }],
    ]),
    steps: [
      { kind: 'wait', for: 'agent', withinMs: 20_000 },
      { kind: 'say', speech: { text: 'Hello Ann.' } },
      { kind: 'say', speech: { text: 'Hi', file: join(folder, 'hello.wav') } },
      { kind: 'pause', ms: 800 },
      { kind: 'over', speech: { text: 'Mm-hmm' }, ...over, afterMs: 2000 },
      { kind: 'interrupt', speech: { text: 'Stop' }, ...over },
      { kind: 'cough', ms: 250, ...over },
      { kind: 'cough', ms: 400, ...over, withinMs: 5000 },
      { kind: 'keys', digits: '12#' },
      { kind: 'echo', echo: { db: -20, delayMs: 60 } },
      { kind: 'echo', echo: undefined },
      { kind: 'noise', noise: { type: 'street', db: -30 } },
      { kind: 'loss', share: 0.025 },
      { kind: 'wait', for: 'end', withinMs: 15_000 },
      { kind: 'hangup' },
    ],
    expect: {
      gapMs: 1000,
      yieldMs: 400,
      goOnMs: 300,
      endedBy: 'agent',
      calls: [
        { name: 'book', args: {} },
        { name: 'cancel', args: { id: 1 }, times: 0 },
      ],
      says: ['booked'],
      saysNever: ['sorry', 'cannot'],
    },
  })
})

it('needs a target and steps only', () => {
  const text = 'target: { address: "sip:a@b.example", via: "sip:127.0.0.1:5060" }\ncaller: [hangup]'
  expect(read(text)).toEqual({
    name: 'test',
    target: { kind: 'address', uri: 'sip:a@b.example', via: 'sip:127.0.0.1:5060' },
    voice: 'awb',
    silenceDb: -55,
    functions: new Map(),
    steps: [{ kind: 'hangup' }],
    expect: { calls: [], says: [], saysNever: [] },
  })
})

describe('faults have the line and the key', () => {
  it.each<[string, string]>([
    ['[]', '1 caller: must be a list'],
    [steps('say: ""'), '3 caller[0].say: must be a text, or { wav: file, text: words }, not ""'],
    [steps('hangup', 'sya: Hello'), '4 caller[1].sya: is not a known key; did you mean `say`?'],
    [steps('cuogh'), '3 caller[0]: is not a step that needs no value, not cuogh; did you mean `cough`?'],
    [steps('{ say: a, pause: 1s }'), '3 caller[0]: must have one action, not say and pause'],
    [steps('{ say: a, after: 1s }'), '3 caller[0].after: is not a known key; known are say'],
    [steps('{}'), '3 caller[0]: must have one action of say, pause, wait, over, interrupt'],
    [steps('pause: 2'), '3 caller[0].pause: must be a duration such as 500ms or 1.5s, at most 600s, not 2'],
    [steps('wait: caller'), '3 caller[0].wait: must be agent or end, not caller'],
    [steps('keys: 12x'), '3 caller[0].keys: must be keys of 0-9, A-D, * and #, at most 64'],
    [
      steps('keys: 0042'),
      '3 caller[0].keys: must be keys of 0-9, A-D, * and #, at most 64; put it in quotes',
    ],
    [
      `from: +15550100\n${steps('hangup')}`,
      '1 from: must be a user of a SIP URI, such as +15550100, not +15550100; put it in quotes',
    ],
    [steps('echo: 20dB'), '3 caller[0].echo: must be a level such as -20dB, or off, not 20dB'],
    [
      steps('noise: rain -30dB'),
      '3 caller[0].noise: must be a kind and a level such as street -30dB, or off',
    ],
    [steps('loss: 60%'), '3 caller[0].loss: must be a share such as 2%, at most 50%, or off, not 60%'],
    [steps('say: { wav: none.wav }'), '3 caller[0].say.wav: is a file that does not exist, not none.wav'],
    [`${steps('hangup')}\nexpect: { gapp: 1s }`, '4 expect.gapp: is not a known key; did you mean `gap`?'],
    [`${steps('hangup')}\nexpect: { calls: [{ times: 1 }] }`, '4 expect.calls[0].function: must be the name'],
    [`${steps('hangup')}\nsilence: -5dB`, '4 silence: must be a level from -80dB to -20dB, not -5dB'],
    [
      'target: { document: agent.yaml, address: "sip:a@b" }\ncaller: [hangup]',
      '1 target: must have either `document` or `address`',
    ],
    [
      'target: { document: agent.yaml, config: trunkline.yaml, standIns: answers.yaml }\ncaller: [hangup]',
      '1 target.standIns: is not used beside `config`, which has the engines',
    ],
    [
      'target: { document: agent.yaml, via: "sip:b" }\ncaller: [hangup]',
      '1 target.via: is for an address only',
    ],
    ['target: { address: "127.0.0.1" }\ncaller: [hangup]', '1 target.address: must be a SIP URI such as'],
    [
      `target: { document: "\${NONE}" }\ncaller: [hangup]`,
      '1 target.document: the environment variable NONE',
    ],
    ['target: { document: [', '1 : '],
  ])('%s', (text, fault) => {
    expect(faults(text).map((each) => each.slice(0, fault.length))).toContain(fault)
  })

  it('reports all of them', () => {
    expect(faults(steps('pause: x', 'wait: y', 'loss: z'))).toHaveLength(3)
  })

  it('requires a server where only a report tells', () => {
    const text = `target: { address: "sip:a@127.0.0.1" }\ncaller: [hangup]\nexpect:\n  calls: [book]`
    expect(faults(text)[0]).toMatch(/^4 expect\.calls: requires `server` for an agent at an address; set/)
    expect(read(`${text}\nserver: 127.0.0.1:3000`).expect.calls).toHaveLength(1)
  })
})
