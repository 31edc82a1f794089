import { pino } from 'pino'
import { expect, it } from 'vitest'
import {
  type DocumentSource,
  DocumentUnreachable,
  type Handler,
  type HandlerContext,
  type StatusCallback,
} from '../../../handlers/handler.ts'
import { FakeCall, testInfo } from '../../../handlers/testing/fake-call.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { HandlerSpec } from '../../model.ts'
import { FakeCustomerServers } from '../testing/fake-customer-servers.ts'
import { HandlerContexts } from './handler-contexts.ts'
import { HandlerRunner } from './handler-runner.ts'

const setUp = () => {
  const customers = new FakeCustomerServers()
  const metrics = new Metrics()
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const ran: (readonly [string, DocumentSource | string])[] = []
  let context: HandlerContext | undefined
  const handler = (kind: string): Handler => ({
    run: async (_call, source, its) => {
      ran.push([kind, source])
      context = its
    },
  })
  const clock = new FakeClock()
  const contexts = new HandlerContexts(
    {
      documents: customers.documents,
      callbacks: customers.callbacks,
      metrics,
      clock,
      isOwnHost: (host, projectId) => host === `${projectId}.example`,
    },
    { region: 'eu' },
  )
  const runner = new HandlerRunner({ xml: handler('xml'), flow: handler('flow') }, contexts, {
    run: async (_call, topic) => void ran.push(['realtime', topic]),
  })
  const call = new FakeCall()
  const run = (spec: HandlerSpec) => runner.run(call, spec, log)
  return { customers, metrics, lines, ran, run, clock, call, context: () => context! }
}

it('runs each kind with the source of its document', async () => {
  const t = setUp()
  await t.run({
    kind: 'xml',
    url: 'https://x/a',
    method: 'GET',
    fallbackUrl: 'https://x/b',
    fallbackMethod: 'POST',
  })
  await t.run({ kind: 'flow', document: '{}', name: 'menu' })
  await t.run({ kind: 'realtime', topic: 'office' })
  await expect(t.run({ kind: 'script', document: '{}', name: 'x' })).rejects.toMatchObject({
    code: 'no_handler',
    facts: { kind: 'script' },
  })
  expect(t.ran).toEqual([
    [
      'xml',
      { kind: 'url', url: 'https://x/a', method: 'GET', fallbackUrl: 'https://x/b', fallbackMethod: 'POST' },
    ],
    ['flow', { kind: 'inline', text: '{}', name: 'menu' }],
    ['realtime', 'office'],
  ])
})

it('gives documents access to the gateway', async () => {
  const t = setUp()
  await t.run({ kind: 'xml', document: '<Response/>', name: 'x' })
  const context = t.context()
  const document = { url: 'https://x/d', contentType: 'text/xml', text: '<Response/>' }
  t.customers.files.set('https://x/d', document)
  expect(await context.fetchDocument({ url: 'https://x/d', method: 'GET' })).toEqual(document)
  await expect(context.fetchDocument({ url: 'https://x/none', method: 'GET' })).rejects.toThrow('404')
  const { values } = await t.metrics.documents.get()
  expect(values.map(({ labels, value }) => [labels.outcome, value])).toEqual([
    ['fetched', 1],
    ['failed', 1],
  ])
  const callback: StatusCallback = { url: 'https://x/s', method: 'POST', kind: 'call-status' }
  context.notify(callback)
  const { projectId, callId } = testInfo
  expect(t.customers.received).toEqual([{ projectId, callId, callback }])
  expect(await context.request({ url: 'https://x/r', method: 'PUT' })).toMatchObject({ status: 200 })
  expect(t.customers.requests).toEqual([{ url: 'https://x/r', method: 'PUT' }])
  expect([context.now(), context.envs]).toEqual([t.clock.now(), { region: 'eu' }])
  expect(['demo.example', 'other.example'].map((host) => context.isOwnHost(host))).toEqual([true, false])
  context.step({ path: '/sections/main/0', method: 'play', node: 'greet' })
  context.warn({ code: 'x', message: 'm', path: '/a' })
  expect(t.lines).toMatchObject([
    { level: 20, path: '/sections/main/0', method: 'play', node: 'greet' },
    { level: 40, fault: { code: 'x', message: 'm', path: '/a' } },
  ])
})

it('cancels the fetch of a document at the end of its call', async () => {
  const t = setUp()
  await t.run({ kind: 'xml', document: '<Response/>', name: 'x' })
  t.customers.documents.document = (_request, _projectId, signal) =>
    new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(new DocumentUnreachable('https://x/slow', 'given up'))),
    )
  const fetched = t.context().fetchDocument({ url: 'https://x/slow', method: 'GET' })
  t.call.end()
  await expect(fetched).rejects.toBeInstanceOf(CallEnded)
  const { values } = await t.metrics.documents.get()
  expect(values.map(({ labels }) => labels.outcome)).toEqual(['given-up'])
})

it('logs the first faults of the documents of a run, and once that further ones are suppressed', async () => {
  const t = setUp()
  await t.run({ kind: 'xml', document: '<Response/>', name: 'x' })
  const context = t.context()
  for (let i = 0; i < 1_000; i++) context.warn({ code: 'x', message: 'm', path: `/${i}` })
  expect(t.lines).toHaveLength(101)
  expect(t.lines.at(-1)).toMatchObject({ level: 40, faults: 101 })
})

it('passes on the status URL of the call for scripts alone', async () => {
  const t = setUp()
  const status = { url: 'https://x/status', method: 'POST', states: ['completed'] } as const
  await t.run({ kind: 'flow', document: '{}', name: 'menu', status: { ...status, dialect: 'json' } })
  expect(t.context().status).toEqual({ url: 'https://x/status', method: 'POST' })
  await t.run({ kind: 'xml', document: '<a/>', name: 'menu', status: { ...status, dialect: 'form' } })
  expect(t.context().status).toBeUndefined()
})
