/** @schedule first: waits for the retries of callbacks. */

/**
 * Callbacks to a customer's server arrive signed, also after a rejection and after a restart of the gateway.
 */
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { application, xmlText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { type DocumentRequest, DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const keys = [
  'the new key of the scenario',
  `whsec_${Buffer.from('the old key of the scenario').toString('base64')}`,
] as const
const took = 200
const refuses = 503

let server: DocumentServer
let dataDir: string
/** Gateway that runs or ran last; all use the same data folder. */
let gateway: Gateway | undefined
/** Status of the server's answers to callbacks. */
let answer: number

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'callbacks-data-'))
  server = await DocumentServer.open()
  const url = server.answers('/callback', (response) => response.writeHead(answer).end())
  const record = `<Record playBeep="false" action="${url}" recordingStatusCallback="${url}"/>`
  server.put('/record', xmlText(record))
})
beforeEach(() => {
  server.requests.length = 0
  answer = took
})
afterAll(async () => {
  await gateway?.stop()
  await server?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Returns the running gateway. Starts a new one if the last one has ended. */
const running = async (): Promise<Gateway> => {
  if (gateway && gateway.exitCode === undefined) return gateway
  await gateway?.stop()
  gateway = await Gateway.start({
    domains: [application('record.test', { kind: 'xml', url: server.urlOf('/record') })],
    dataDir,
    webhooks: { signingKeys: keys },
  })
  return gateway
}

/** Calls the recording document, and waits until half a second is recorded. */
const recorded = async (gateway: Gateway, scenario: string): Promise<Carrier> => {
  const caller = await Carrier.calls(gateway, { domain: 'record.test', scenario, holdMs: 'manual' })
  await caller.talks('answered', 440)
  await until(
    'the recording has started',
    () => gateway.metric('recordings'),
    (count) => count === 1,
  )
  const before = caller.media.sent
  await until('half a second of audio was sent', () => caller.media.sent - before >= 25)
  return caller
}

const idOf = ({ headers }: DocumentRequest): string => String(headers['webhook-id'])
/** Waits for this number of callback requests. */
const waits = (count: number) =>
  until(
    `${count} requests`,
    () => server.asked('/callback'),
    ({ length }) => length >= count,
  )
const waiting = (gateway: Gateway, count: number) =>
  until(
    `${count} callbacks are pending`,
    () => gateway.metric('callbacks_waiting'),
    (found) => found === count,
  )

const hmac = (hash: string, key: string | Buffer, text: string): string =>
  createHmac(hash, key).update(text).digest('base64')

it('a callback has signatures of both keys by Standard Webhooks, and one of the first key by the XML family’s rule', async () => {
  const gateway = await running()
  const caller = await recorded(gateway, 'call')
  await caller.goesOn()
  await caller.done()
  for (const { headers, fields, body } of await waits(2)) {
    const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const signatures = [
      hmac('sha256', keys[0], text),
      hmac('sha256', Buffer.from('the old key of the scenario'), text),
    ]
    expect(headers['webhook-signature']).toBe(signatures.map((signature) => `v1,${signature}`).join(' '))
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(120)
    const names = Object.keys(fields).sort()
    const form = server.urlOf('/callback') + names.map((name) => name + fields[name]).join('')
    expect(headers['x-signalwire-signature']).toBe(hmac('sha1', keys[0], form))
  }
  await waiting(gateway, 0)
  await gateway.settled()
})

it('a callback that was rejected is repeated with the same id and body', async () => {
  const gateway = await running()
  const delivered = () => gateway.metric('callbacks_total', { outcome: 'delivered' })
  const before = await delivered()
  answer = refuses
  const caller = await recorded(gateway, 'call')
  await caller.goesOn()
  await caller.done()
  const first = [...(await waits(2))].slice(0, 2)
  await gateway.settled()
  await waiting(gateway, 2)
  answer = took
  const again = (await waits(4)).slice(2)
  expect(again.map(idOf).sort()).toEqual(first.map(idOf).sort())
  expect(again.map(({ body }) => body).sort()).toEqual(first.map(({ body }) => body).sort())
  await waiting(gateway, 0)
  expect(server.asked('/callback')).toHaveLength(4)
  expect(await delivered()).toBe(before + 2)
})

it('a callback that was rejected arrives after a restart of the gateway', async () => {
  const before = await running()
  answer = refuses
  const caller = await recorded(before, 'call')
  await caller.goesOn()
  await caller.done()
  const first = [...(await waits(2))].slice(0, 2)
  await waiting(before, 2)
  await before.stop()
  const { length } = server.asked('/callback')
  answer = took
  const after = await running()
  const again = (await waits(length + 2)).slice(length)
  expect(again.map(idOf).sort()).toEqual(first.map(idOf).sort())
  await waiting(after, 0)
})

it('the callbacks of a call that ends with the gateway arrive, at the latest after the next start', async () => {
  const gateway = await running()
  const caller = await recorded(gateway, 'caller-released')
  gateway.terminate()
  await caller.done()
  await gateway.ended()
  const next = await running()
  await waits(2)
  await waiting(next, 0)
  const received = server.asked('/callback').map(({ fields }) => [fields.RecordingStatus, fields.Digits])
  expect(received).toEqual([
    ['completed', undefined],
    [undefined, 'hangup'],
  ])
})
