import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { settle, setUp } from '../calls/testing/calls-fixture.ts'
import { createLog, type Log } from './log.ts'
import { duration, readableLog } from './readable-log.ts'

/** Returns the readable text of everything that `write` logs. */
const textOf = async (write: (log: Log) => unknown, details = false, colorize = false): Promise<string> => {
  const readable = readableLog({ details, colorize })
  let text = ''
  const log = createLog(
    { level: 'info', pretty: false },
    {
      write: (line) => {
        text += readable(line)
      },
    },
  )
  await write(log)
  return text
}

/** Starts a call, answers it after 0.3 s, and ends it 3 s later. */
const callFor3Seconds = async (log: Log): Promise<void> => {
  const t = setUp({ log })
  t.arrive(async (call) => {
    await call.sleep(300)
    await call.answer()
    await call.sleep(3_000)
    await call.hangup()
  })
  for (const ms of [300, 3_000]) {
    await settle()
    t.clock.advance(ms)
  }
  await settle()
}

describe('a call', () => {
  it('has one line at its start and one at its end', async () => {
    const lines = (await textOf(callFor3Seconds)).trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d call arrived {2}\S+ → \S+ {2}kind=sip {2}[0-9a-f]{8}$/),
      expect.stringMatching(
        /^\d\d:\d\d:\d\d call ended {2}\S+ → \S+ {2}3\.3 s {2}(.* {2})?normal {2}[0-9a-f]{8}$/,
      ),
    ])
  })

  it('has its fields below the lines with details', async () => {
    const text = await textOf(callFor3Seconds, true)
    expect(text).toMatch(/^ {4}durationMs: 3300$/m)
    expect(text).toMatch(/^ {4}legs: \[$/m)
  })

  it('shows the numbers of the parties, the codecs, the worst quality and the carrier', async () => {
    const legs = [
      { codec: 'PCMU', audio: { mos: 4.39 } },
      { codec: 'OPUS', carrier: 'acme', audio: { mos: 3.1 } },
      { codec: 'PCMU' },
    ]
    const facts = { from: 'sip:+15551230001@carrier.test;user=phone', to: 'sip:anything@127.0.0.1' }
    const text = await textOf((log) =>
      log.info({ event: 'call.ended', ...facts, durationMs: 63_300, legs, code: 'normal' }, 'call ended'),
    )
    expect(text).toContain(
      'call ended  +15551230001 → anything@127.0.0.1  carrier=acme  1 min 3 s  PCMU/OPUS  MOS 3.1  normal\n',
    )
  })
})

it('shows the parties and plain facts of an event first, and the names of others', async () => {
  const facts = {
    source: '192.0.2.1',
    leg: 'l-1',
    code: 'unknown_domain',
    status: 404,
    tries: [],
    ports: [1, 2],
  }
  const text = await textOf((log) =>
    log.warn({ event: 'sip.request-rejected', graceMs: 30_000, ...facts, to: 'sip:1@x.example' }, 'rejected'),
  )
  expect(text).toMatch(
    / warn rejected {2}→ 1@x\.example {2}unknown_domain {2}404 {2}grace=30\.0 s {2}source=192\.0\.2\.1 {2}ports=1, 2\n$/,
  )
})

it('does not repeat the message at the start of a reason', async () => {
  const msg = 'The document could not be fetched.'
  const reason = `${msg} https://app.example/x: status 500`
  const text = await textOf((log) => log.warn({ code: 'document_unreachable', reason }, msg))
  expect(text).toMatch(
    / warn The document could not be fetched\. {2}document_unreachable {2}https:\/\/app\.example\/x: status 500\n$/,
  )
  expect(await textOf((log) => log.warn({ reason: msg }, msg))).toMatch(
    / warn The document could not be fetched\.\n$/,
  )
})

it('shows the stack of an error at level error and above', async () => {
  const err = new Error('disk full')
  const warned = await textOf((log) => log.warn({ err }, 'not written'))
  const failed = await textOf((log) => log.error({ err }, 'not written'))
  expect(warned).toMatch(/^\S+ warn not written {2}disk full\n$/)
  expect(failed).toMatch(/^\S+ error not written {2}disk full\n {4}Error: disk full\n {4}at /)
})

it.each([
  ['line feeds', '\n11:26:04 gateway stopped'],
  ['escape sequences', '\u001b[2J'],
  ['C1 controls', '\u009b2J'],
  ['line separators', '\u2028x'],
  ['marks of direction', '\u202ex'],
])('escapes %s in values, names and messages', async (_kind, text) => {
  for (const details of [false, true]) {
    const written = await textOf((log) => {
      log.info({ from: `sip:a${text}@b`, [`name${text}`]: { deep: [text] }, list: [text] }, `message ${text}`)
    }, details)
    expect(written).not.toContain(text)
    expect(written.split('\n')[0]).toMatch(/message \\u[0-9a-f]{4}/)
  }
})

it('keeps an error whose message has line feeds in one line', async () => {
  const text = await textOf((log) => log.warn({ err: new Error('one\ntwo') }, 'failed'))
  expect(text.trimEnd().split('\n')).toHaveLength(1)
})

it('has colors on a terminal only', async () => {
  expect(await textOf((log) => log.warn('careful'), false, true)).toContain('\u001b[33mwarn\u001b[39m')
  expect(await textOf((log) => log.warn('careful'))).not.toContain('\u001b')
})

it('cuts long values', async () => {
  const text = await textOf((log) => log.info({ reason: 'x'.repeat(10_000) }, 'long'))
  expect(text.length).toBeLessThan(300)
})

it('writes lines that have no message', async () => {
  expect(readableLog({ details: false, colorize: false })('{"level":30,"time":0,"event":"call.x"}')).toMatch(
    / call\.x\n$/,
  )
  expect(pino.levels.values).toMatchObject({ warn: 40, error: 50, fatal: 60 })
})

it.each([
  [3, '3 ms'],
  [3_349, '3.3 s'],
  [245_000, '4 min 5 s'],
  [7_380_000, '2 h 3 min'],
])('writes %i ms as %s', (ms, text) => expect(duration(ms)).toBe(text))
