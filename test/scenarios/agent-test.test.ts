/** @schedule tones: listens to agents and talks to them in real time. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openStandIns } from '../../gateway/stand-ins/open-stand-ins.ts'
import { scriptOf } from '../../gateway/stand-ins/read-script.ts'
import { freePort } from '../../media/testing/free-ports.ts'
import { application } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Gateway } from '../support/gateway.ts'
import { faultsInAllLooks } from '../support/page-states.ts'
import { Program } from '../support/program.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agent-test-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs `trunkline agent-test` in the folder. Returns the exit code and the output. */
const agentTest = async (...args: readonly string[]) => {
  const command = join(import.meta.dirname, '..', '..', 'scripts', 'trunkline')
  const program = new Program(command, ['agent-test', ...args], { cwd: folder, name: 'agent-test' })
  const code = await program.end()
  return { code, text: program.lines.join('\n') }
}

const put = (name: string, content: object): void =>
  writeFileSync(join(folder, name), JSON.stringify(content))

/** Report in JSON, as far as the tests read it. */
interface Report {
  readonly passed: boolean
  readonly expectations: readonly { readonly name: string; readonly passed: boolean }[]
  readonly scores: {
    readonly response: object
    readonly yield: object
    readonly selectivity: object
    readonly gap: { readonly p50: number }
  }
  readonly calls: readonly {
    readonly scores: { readonly ms: number }
    readonly functions: readonly object[]
    readonly transcript: readonly { readonly who: string; readonly text?: string }[]
  }[]
}

const reportIn = (name: string): Report => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report

const story =
  'Your table for two is booked. Please come to the side door. The garden is open until ten. ' +
  'Bring your friends, and bring your dog. We look forward to your visit on Friday evening.'

const rules = [
  { when: { contains: ['table'], offers: ['book'] }, do: [{ call: { arguments: { people: 2 } } }] },
  { when: { on: 'result' }, do: [{ say: story }] },
  { when: { contains: ['stop'] }, do: [{ say: 'Yes, please.' }] },
  { when: { contains: ['goodbye'] }, do: [{ say: 'Goodbye.' }, { call: 'hangup' }] },
  { when: 'any', do: [{ say: 'Please go on.' }] },
]

const agent = {
  prompt: { text: 'You book tables.' },
  params: { static_greeting: 'Good evening.', attention_timeout: 0 },
  post_prompt_url: 'http://127.0.0.1:9/nothing-listens-here',
  SWAIG: {
    functions: [
      {
        function: 'book_table',
        description: 'Books a table.',
        web_hook_url: 'http://127.0.0.1:9/nothing-listens-here',
        parameters: { type: 'object', properties: { people: { type: 'integer' } } },
      },
    ],
  },
}

/** Expectations on words and functions: the delays of this machine do not decide about them. */
const held = {
  endedBy: 'agent',
  gap: '10s',
  calls: [{ function: 'book_table', arguments: { people: 2 }, times: 1 }],
  says: ['Your table for two', 'Goodbye'],
}

const caller = [
  { wait: 'agent' },
  { say: 'A table for two, please.' },
  { over: 'Mm-hmm' },
  { interrupt: 'Stop, I have a question.' },
  { wait: 'agent' },
  { say: 'Thank you, goodbye.' },
  { wait: 'end' },
]

it('serves a document with stand-ins, and exits with 1 for an expectation that is not met', async () => {
  put('agent.yaml', agent)
  put('answers.yaml', { rules })
  put('booking.yaml', {
    target: { document: 'agent.yaml', standIns: 'answers.yaml' },
    functions: { book_table: 'Booked for two.' },
    caller,
    expect: { ...held, yield: '2s', goOn: '2s', saysNever: ['good evening'] },
  })
  const files = [
    '--json',
    'report.json',
    '--html',
    'report.html',
    '--wav',
    'call.wav',
    '--log',
    'gateway.log',
  ]
  const { code, text } = await agentTest('booking.yaml', ...files)
  const report = reportIn('report.json')
  expect({ code, failed: report.expectations.filter(({ passed }) => !passed) }, text).toMatchObject({
    code: 1,
    failed: [{ name: 'never says “good evening”' }],
  })
  expect(text).toMatch(/FAIL {2}never says “good evening”\n.*Call 1: the agent said “Good evening.”/)
  expect(report.scores).toMatchObject({
    response: { good: 3, of: 3 },
    yield: { good: 1, of: 1 },
    selectivity: { good: 1, of: 1 },
  })
  const [call] = report.calls
  expect(call?.functions).toMatchObject([
    { name: 'book_table', args: { people: 2 }, result: 'Booked for two.' },
    { name: 'hangup' },
  ])
  expect(call?.transcript.find(({ who }) => who === 'agent')?.text).toBe('Good evening.')
  expect(readFileSync(join(folder, 'gateway.log'), 'utf8')).toContain('"event":"agent.started"')
  // Four bytes for each of 8000 samples in a second.
  const bytes = readFileSync(join(folder, 'call.wav')).length - 44
  expect(Math.abs(bytes / 32 - call!.scores.ms)).toBeLessThan(20)
})

it('writes a page that has no fault, in light and dark, at the width of a phone', async () => {
  const browser = await Browser.start(440)
  onTestFinished(() => browser.stop())
  const page = await browser.page()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url().slice(0, 5)))
  await page.goto(pathToFileURL(join(folder, 'report.html')).href)
  expect(await faultsInAllLooks(page, 'agent test')).toEqual([])
  expect(asked.filter((url) => url !== 'file:' && url !== 'data:')).toEqual([])
  const seconds = Number(await page.evaluate('document.querySelector("audio").duration'))
  expect(seconds).toBeCloseTo(reportIn('report.json').calls[0]!.scores.ms / 1000, 1)
  const play = page.getByRole('button', { name: /^Play from/ }).nth(2)
  await play.press('Enter')
  const position = () => page.evaluate('document.querySelector("audio").currentTime')
  await expect.poll(position).toBeGreaterThan(2)
})

it('exits with 2 for a faulty scenario, and names the line', async () => {
  put('agent.yaml', agent)
  writeFileSync(join(folder, 'faulty.yaml'), 'target: { document: agent.yaml }\ncaller:\n  - wait: agnet\n')
  const { code, text } = await agentTest('faulty.yaml')
  expect(code).toBe(2)
  expect(text).toMatch(/faulty\.yaml:3:11 caller\[0\]\.wait: must be agent or end, not agnet/)
})

it('calls a running gateway several times at once, and exits with 0', async () => {
  const standIns = await openStandIns({ script: scriptOf({ rules }) })
  onTestFinished(() => standIns.close())
  const port = await freePort()
  const server = `http://127.0.0.1:${port}`
  const functions = agent.SWAIG.functions.map((each) => ({ ...each, web_hook_url: `${server}/functions` }))
  const document = { ...agent, post_prompt_url: `${server}/report`, SWAIG: { functions } }
  const { url, wsUrl } = standIns
  const gateway = await Gateway.start({
    agents: {
      engines: { parts: { kind: 'pipeline', recognisers: 'ears', models: 'mind' } },
      recognisers: { ears: { kind: 'vosk', url: `${wsUrl}/vosk` } },
      models: { mind: { kind: 'openai', url: `${url}/v1`, key: 'k', model: 'any' } },
    },
    domains: [application('tables.test', { kind: 'agent', document })],
  })
  onTestFinished(() => gateway.stop())
  put('running.yaml', {
    target: { address: 'sip:desk@tables.test', via: `sip:127.0.0.1:${gateway.sipPort}` },
    server: `127.0.0.1:${port}`,
    caller: [
      { noise: 'street -65dB' },
      { loss: '2%' },
      { wait: 'agent' },
      { keys: '12' },
      { wait: 'agent' },
      'hangup',
    ],
    expect: { gap: '10s', endedBy: 'caller', says: ['Good evening', 'Please go on'] },
  })
  const { code, text } = await agentTest(
    'running.yaml',
    '--callers',
    '2',
    '--repeat',
    '2',
    '--json',
    'r.json',
  )
  expect(code, text).toBe(0)
  const { calls, scores } = reportIn('r.json')
  expect({ calls: calls.length, scores }).toMatchObject({
    calls: 4,
    scores: { response: { good: 4, of: 4 }, gap: { count: 4 } },
  })
  await gateway.settled()
})
