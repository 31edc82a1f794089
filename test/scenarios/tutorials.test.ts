/** Tutorials of the documentation: their programs and requests, run as the pages print them. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { Browser } from '../support/browser.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { programOf, requestsOf } from '../support/page-examples.ts'
import { Program } from '../support/program.ts'
import { apiToken } from '../support/recorded.ts'
import { rest } from '../support/rest.ts'
import { Softphone } from '../support/softphone.ts'
import { until } from '../support/until.ts'

const bob = { email: 'bob@example.test', password: 'looking-glass-9' }

const signingKey = 'the-key-of-the-tutorials-0123456789'

let gateway: Gateway
let browser: Browser
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tutorials-'))
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
  const starting = Browser.start(600)
  gateway = await Gateway.start({
    limits: { documentNetworks: ['127.0.0.0/8'] },
    webhooks: { signingKeys: [signingKey] },
    subscribers: [
      { ...alice, displayName: 'Alice' },
      { ...bob, displayName: 'Bob' },
    ],
  })
  browser = await starting
})

afterAll(async () => {
  await gateway?.settled()
  await Promise.all([browser?.stop(), gateway?.stop()])
  rmSync(folder, { recursive: true, force: true })
})

/** Variables that the pages tell their readers to set. */
const variables = () => ({
  ...process.env,
  GW: gateway.url,
  AUTH: `default:${apiToken}`,
  SIGNING_KEY: signingKey,
})

/** Runs the requests of a page. Returns their answers. */
const run = (page: string, port = 3000): readonly string[] =>
  requestsOf(page).map((text) =>
    execFileSync('bash', ['-euc', text.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)], {
      env: variables(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )

/** Saves and starts the program of a page. It ends with the test. */
const serve = async (page: string, name: string): Promise<{ program: Program; port: number }> => {
  const port = await freePort()
  writeFileSync(join(folder, name), programOf(page, name))
  const program = new Program(process.execPath, [name], {
    cwd: folder,
    env: { ...variables(), PORT: String(port) },
    name,
  })
  onTestFinished(async () => {
    await program.stop(2_000)
  })
  await until(`${name} listens`, () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ),
  )
  return { program, port }
}

/** Waits for a line of a program. */
const prints = (program: Program, expected: RegExp): Promise<unknown> =>
  until(
    `the program prints ${expected}`,
    () => program.lines.find((line) => expected.test(line)),
    Boolean,
    30_000,
  )

/** Calls an address, with these steps for the caller. Returns the id of the call. */
const call = async (to: string, ...main: readonly object[]): Promise<string> => {
  const swml = { version: '1.0.0', sections: { main } }
  const { body } = await rest(gateway, 'POST', '/api/calling/calls', {
    command: 'dial',
    params: { from: '+15550100', to, swml },
  })
  return body.id
}

it('the start for developers rings a person and stores a script', async () => {
  const phone = await Softphone.open(browser, gateway)
  onTestFinished(() => phone.close())
  const answers = run('start-developer.md').map((text) => JSON.parse(text))
  await phone.rings()
  await phone.reject()
  expect(answers.map(({ errors }) => errors)).toEqual([undefined, undefined, undefined])
  expect(answers[1].address).toBe('/public/hello')
})

it('a menu by telephone sends the caller to the document of a key', async () => {
  const { program, port } = await serve('tutorial-ivr.md', 'ivr.mjs')
  expect(JSON.parse(run('tutorial-ivr.md', port)[0] ?? '').address).toBe('/public/ivr')
  const id = await call(
    '/public/ivr',
    { sleep: { duration: 1000 } },
    { send_digits: { digits: '2' } },
    { sleep: { duration: 30_000 } },
  )
  await prints(program, /^\/choice \+15550100 2$/)
  await rest(gateway, 'POST', '/api/calling/calls', {
    command: 'update',
    params: { id, status: 'completed' },
  })
})

it('voicemail records a message for a person who is offline', async () => {
  const [stored] = run('tutorial-voicemail.md').slice(0, 1)
  expect(JSON.parse(stored ?? '').address).toBe('/public/voicemail')
  await call('/public/voicemail', {
    play: { urls: ['silence:6', 'say:Hello Alice, this is a message.', 'say:Please call me back.'] },
  })
  const messages = () => {
    const [, list] = run('tutorial-voicemail.md')
    return JSON.parse(list ?? '').data as { status: string; duration_ms: number; url: string }[]
  }
  const [message] = await until('a message', messages, (list) => list[0]?.status === 'completed', 30_000)
  expect(message?.duration_ms).toBeGreaterThan(1_000)
  expect((await fetch(String(message?.url))).headers.get('content-type')).toMatch(/^audio\//)
})

it('a visitor of a page calls with a button', async () => {
  const phone = await Softphone.open(browser, gateway)
  onTestFinished(() => phone.close())
  const { port } = await serve('tutorial-click-to-call.md', 'click.mjs')
  const page = await browser.page()
  onTestFinished(() => page.context().close())
  await page.goto(`http://localhost:${port}/`)
  await page.locator('#call').click()
  expect(await phone.rings()).toContain('Guest')
  await phone.accept()
  await expect.poll(() => page.locator('#state').textContent()).toBe('active')
  await page.locator('#call').click()
  await phone.idle()
})

it('an agent takes the caller from the queue', async () => {
  const { program, port } = await serve('tutorial-queue.md', 'queue.mjs')
  run('tutorial-queue.md', port)
  await call('/public/support', { sleep: { duration: 60_000 } })
  await prints(program, /^\/wait/)
  const agent = await call('/public/agent', { sleep: { duration: 60_000 } })
  await prints(program, /^\/agent/)
  await until(
    'the two are connected',
    () => gateway.metric('queue_waiting'),
    (waiting) => waiting === 0,
    20_000,
  )
  await rest(gateway, 'POST', '/api/calling/calls', {
    command: 'update',
    params: { id: agent, status: 'completed' },
  })
  await prints(program, /^\/left \+15550100 bridged$/)
})

it('a voice bot hears a sentence and answers', async () => {
  const { program, port } = await serve('tutorial-voice-bot.md', 'bot.mjs')
  const request = requestsOf('tutorial-voice-bot.md')
  expect(request).toHaveLength(1)
  run('tutorial-voice-bot.md', port)
  const id = await call('/public/bot', {
    play: { urls: ['say:This is a sentence for the bot.', 'silence:20'] },
  })
  await prints(program, /^heard \d{3,} ms$/)
  await prints(program, /^reply was played$/)
  await rest(gateway, 'POST', '/api/calling/calls', {
    command: 'update',
    params: { id, status: 'completed' },
  })
})

it('a server checks the signatures of callbacks', async () => {
  const { program, port } = await serve('webhooks.md', 'signed.mjs')
  const { body } = await rest(gateway, 'POST', '/api/calling/calls', {
    command: 'dial',
    params: {
      from: '+15550100',
      to: '/public/alice',
      status_url: `http://127.0.0.1:${port}/status`,
      swml: { version: '1.0.0', sections: { main: [{ hangup: {} }] } },
    },
  })
  await prints(program, new RegExp(`^signed /status .*${body.id}.*"call_state":"ended"`))
  const forged = await fetch(`http://127.0.0.1:${port}/status`, { method: 'POST', body: '{}' })
  expect(forged.status).toBe(403)
})
