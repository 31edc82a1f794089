/** @schedule first: waits for the time-outs of calls that are not answered. */

/** Calls placed by the XML family's API: their callbacks in the family's words, and in order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { joined, quiet, talk } from '../../media/detect/testing/detection-sounds.ts'
import { freePort } from '../../media/testing/free-ports.ts'
import { xmlText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken, authorization } from '../support/recorded.ts'
import { until } from '../support/until.ts'

const waiting = xmlText('<Pause length="600"/>')
const all = ['initiated', 'ringing', 'answered', 'completed']

let server: DocumentServer
/** Gateway of all tests that do not end their gateway. */
let gateway: Gateway
/** Port of the default carrier. */
let carrierPort: number

beforeAll(async () => {
  server = await DocumentServer.open()
  carrierPort = await freePort()
  const telco = { name: 'telco', targets: [`sip:127.0.0.1:${carrierPort}`], default: true }
  gateway = await Gateway.start({ http: { apiToken }, carriers: [telco] })
  for (const path of ['/callback', '/recorded']) server.put(path, '')
})
beforeEach(() => {
  server.requests.length = 0
})
afterAll(async () => {
  await gateway?.stop()
  await server?.close()
})

/** Starts a gateway for a test that ends it, with a data folder that another gateway may have used. */
const start = async (dataDir: string): Promise<Gateway> => {
  const gateway = await Gateway.start({ http: { apiToken }, dataDir })
  onTestFinished(() => gateway.stop())
  return gateway
}

const place = async (
  gateway: Gateway,
  to: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly sid: string; readonly status: string }> => {
  const form = new URLSearchParams({ To: to, From: '+4930123', ...fields })
  form.append('StatusCallback', server.urlOf('/callback'))
  for (const event of all) form.append('StatusCallbackEvent', event)
  const url = `${gateway.url}/api/laml/2010-04-01/Accounts/default/Calls.json`
  const answer = await fetch(url, { method: 'POST', headers: { authorization, ...headers }, body: form })
  const body = await answer.json()
  expect([answer.status, body]).toEqual([201, expect.objectContaining({ status: 'queued' })])
  return body as { readonly sid: string; readonly status: string }
}

const forms = () => server.asked('/callback').map(({ fields }) => fields)
const received = (count: number) =>
  until(`${count} states have arrived`, forms, ({ length }) => length >= count)

/** Lets the callee answer after the ringing was reported. */
const picksUp = async (carrier: Carrier) => {
  await received(2)
  await carrier.goesOn()
}

it('a placed call reports each state once, in order, with the facts of the call', async () => {
  const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
  const { sid } = await place(gateway, carrier.uri, { Twiml: xmlText('<Pause length="1"/>', '<Hangup/>') })
  await carrier.sipp.event('invited')
  await picksUp(carrier)
  await carrier.done()
  const common = {
    AccountSid: 'default',
    ApiVersion: '2010-04-01',
    CallSid: sid,
    Direction: 'outbound-api',
    From: '+4930123',
    To: carrier.uri,
    CallbackSource: 'call-progress-events',
    Timestamp: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/),
  }
  // The pause lasts one second; a busy machine adds some.
  const seconds = expect.stringMatching(/^[1-9]\d*$/)
  expect(await received(4)).toEqual([
    { ...common, CallStatus: 'initiated', SequenceNumber: '0' },
    { ...common, CallStatus: 'ringing', SequenceNumber: '1' },
    { ...common, CallStatus: 'in-progress', SequenceNumber: '2' },
    { ...common, CallStatus: 'completed', SequenceNumber: '3', CallDuration: seconds, SipResultCode: '200' },
  ])
  await gateway.settled()
})

it('a placed call with Record reports its recording', async () => {
  const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
  const record = { Record: 'true', RecordingStatusCallback: server.urlOf('/recorded') }
  const { sid } = await place(gateway, carrier.uri, {
    ...record,
    // Durations are whole seconds: the recording of a call of one second may have a duration of 0.
    Twiml: xmlText('<Pause length="2"/>', '<Hangup/>'),
  })
  await carrier.talks('invited', 440)
  await picksUp(carrier)
  await carrier.done()
  const [recorded] = await until(
    'the recording',
    () => server.asked('/recorded'),
    ({ length }) => length > 0,
  )
  expect(recorded?.fields).toMatchObject({
    CallSid: sid,
    RecordingStatus: 'completed',
    RecordingChannels: '1',
  })
  expect(Number(recorded?.fields.RecordingDuration)).toBeGreaterThan(0)
  await gateway.settled()
})

it('a placed call to a number goes to the default carrier, and its callbacks have the number as it was dialled', async () => {
  const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual', port: carrierPort })
  const url = server.put('/number', xmlText('<Hangup/>'))
  const { sid } = await place(gateway, '+4930777', { Url: url })
  await carrier.sipp.event('invited')
  await picksUp(carrier)
  await carrier.done()
  const number = { CallSid: sid, From: '+4930123', To: '+4930777' }
  expect(await received(4)).toMatchObject([number, number, number, number])
  expect(server.asked('/number').map(({ fields }) => fields)).toMatchObject([number])
  await gateway.settled()
})

it('a placed call with MachineDetection reports a machine in AnsweredBy', async () => {
  server.put('/answered', xmlText('<Hangup/>'))
  const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
  const machine = { MachineDetection: 'Enable', MachineDetectionTimeout: '10' }
  const { sid } = await place(gateway, carrier.uri, { ...machine, Url: server.urlOf('/answered') })
  await carrier.talks('invited', 0)
  await picksUp(carrier)
  await carrier.sipp.event('confirmed')
  carrier.media.say(joined([quiet(400), talk(2500)]))
  await carrier.done()
  const [asked] = server.asked('/answered')
  expect(asked?.fields).toMatchObject({
    CallSid: sid,
    AnsweredBy: 'machine_start',
    CallStatus: 'in-progress',
  })
  expect((await received(4)).at(-1)).toMatchObject({ AnsweredBy: 'machine', CallStatus: 'completed' })
  await gateway.settled()
})

it('twenty simultaneous calls each report all their states in order', { timeout: 60_000 }, async () => {
  const count = 20
  const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 300, count, timeoutMs: 40_000 })
  const Twiml = xmlText('<Pause length="1"/>', '<Hangup/>')
  const calls = await Promise.all(Array.from({ length: count }, () => place(gateway, carrier.uri, { Twiml })))
  expect(new Set(calls.map(({ sid }) => sid)).size).toBe(count)
  await carrier.done()
  const fields = await received(4 * count)
  const statuses = calls.map(({ sid }) => fields.filter(({ CallSid }) => CallSid === sid))
  for (const each of statuses)
    expect(each.map(({ CallStatus }) => CallStatus)).toEqual([
      'initiated',
      'ringing',
      'in-progress',
      'completed',
    ])
  await gateway.settled()
})

it('repeated requests with the same idempotency key place one call', async () => {
  const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
  const ask = () =>
    place(gateway, carrier.uri, { Twiml: xmlText('<Hangup/>') }, { 'idempotency-key': 'order-7' })
  const calls = await Promise.all([ask(), ask(), ask()])
  await carrier.sipp.event('invited')
  calls.push(await ask())
  expect(new Set(calls.map(({ sid }) => sid)).size).toBe(1)
  await picksUp(carrier)
  await carrier.done()
  expect(await received(4)).toHaveLength(4)
  await gateway.settled()
  expect(carrier.sipp.received('INVITE')).toHaveLength(1)
})

it('the end of a call whose gateway is killed or shut down is reported, at the latest after the next start', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'placing-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const killed = await start(dataDir)
  const never = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
  const lost = await place(killed, never.uri, { Twiml: waiting })
  process.kill(killed.pid, 'SIGKILL')
  await killed.ended()
  const ending = await start(dataDir)
  const url = `${ending.url}/api/laml/2010-04-01/Accounts/default/Calls/${lost.sid}`
  const answer = await fetch(url, { headers: { authorization } })
  expect([answer.status, await answer.json()]).toMatchObject([200, { sid: lost.sid, status: 'failed' }])
  const ends = () =>
    forms().filter(({ CallSid, CallStatus }) => CallSid === lost.sid && CallStatus === 'failed')
  const [end] = await until('the end of the lost call is reported', ends, ({ length }) => length > 0)
  expect(end).toMatchObject({ Direction: 'outbound-api', To: never.uri, CallDuration: '0' })
  await never.sipp.stop()
  const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
  const { sid } = await place(ending, carrier.uri, { Twiml: waiting })
  const received = (count: number) =>
    until(
      `${count} states of the call have arrived`,
      () => forms().filter(({ CallSid }) => CallSid === sid),
      ({ length }) => length >= count,
    )
  await carrier.sipp.event('invited')
  await received(2)
  await carrier.goesOn()
  await carrier.sipp.event('confirmed')
  await received(3)
  ending.terminate()
  await carrier.done()
  await ending.ended()
  const next = await start(dataDir)
  expect(ends()).toHaveLength(1)
  expect((await received(4)).at(-1)).toMatchObject({ CallSid: sid, CallStatus: 'completed' })
  await next.settled()
})

it('the end of an inbound call is reported to the callback of its domain application', async () => {
  const made = await fetch(`${gateway.url}/api/relay/rest/domain_applications`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Shop',
      identifier: 'shop',
      call_handler: 'laml_webhooks',
      call_request_url: server.put('/in', xmlText('<Say>Hello</Say>', '<Pause length="600"/>')),
      call_status_callback_url: server.urlOf('/callback'),
    }),
  })
  const { domain } = (await made.json()) as { readonly domain: string }
  const carrier = await Carrier.calls(gateway, { domain, scenario: 'call', holdMs: 'manual' })
  await carrier.sipp.event('answered')
  await until(
    'the document speaks',
    () => gateway.metric('verbs'),
    (verbs) => verbs === 1,
  )
  await carrier.goesOn()
  await carrier.done()
  const [end] = await received(1)
  const [asked] = server.asked('/in')
  expect(end).toMatchObject({
    CallSid: asked?.fields.CallSid,
    To: asked?.fields.To,
    Direction: 'inbound',
    CallStatus: 'completed',
    SequenceNumber: '0',
    CallDuration: expect.stringMatching(/^\d+$/),
  })
  await gateway.settled()
  expect(server.asked('/callback')).toHaveLength(1)
})
