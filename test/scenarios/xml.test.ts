/** XML documents of a customer's server: queues, conferences, referrals and callbacks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestStreamServer } from '../../gateway/streams/testing/stream-server.ts'
import { application } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const oneTone = 440
const otherTone = 600

let gateway: Gateway
let documents: DocumentServer
let streams: TestStreamServer
/** Content of the documents of one.test and other.test. */
const bodies = { one: '', other: '' }

beforeAll(async () => {
  documents = await DocumentServer.open()
  streams = await TestStreamServer.open()
  for (const name of ['one', 'other'] as const)
    documents.put(`/${name}`, () => `<Response>${bodies[name]}</Response>`)
  documents.put('/over', '<Response><Hangup/></Response>')
  gateway = await Gateway.start({
    domains: [
      application('one.test', { kind: 'xml', url: documents.urlOf('/one') }),
      application('other.test', { kind: 'xml', url: documents.urlOf('/other') }),
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
  await streams?.close()
})

const url = (path: string): string => documents.urlOf(path)

const caller = (domain: string, scenario: string, holdMs: number | 'manual' = 'manual'): Promise<Carrier> =>
  Carrier.calls(gateway, { domain, scenario, holdMs })

/** Waits for this number of requests for a path, and returns them. */
const requests = (path: string, count = 1) =>
  until(
    `${count} requests for ${path}`,
    () => documents.requests.filter((request) => request.path === path),
    ({ length }) => length >= count,
  )

const settled = async (...carriers: readonly Carrier[]) => {
  for (const carrier of carriers) await carrier.done()
  await gateway.settled()
}

describe('a caller’s hang-up during Dial', () => {
  const action = () => `action="${url('/over')}"`

  it('is reported to the action and to the callee’s callback while the callee rings', async () => {
    documents.requests.length = 0
    const callee = await Carrier.listens({ scenario: 'callee-cancelled' })
    const events = 'statusCallbackEvent="initiated ringing completed"'
    const sip = `<Sip statusCallback="${documents.put('/callback', '')}" ${events}>${callee.uri}</Sip>`
    bodies.one = `<Dial ${action()} answerOnBridge="true">${sip}</Dial>`
    const carrier = await caller('one.test', 'caller-cancels')
    await requests('/callback', 2)
    await carrier.goesOn()
    await settled(carrier, callee)
    const [{ fields } = { fields: {} }] = await requests('/over')
    expect(fields).toMatchObject({ DialCallStatus: 'canceled', CallStatus: 'completed' })
    const received = (await requests('/callback', 3)).map((request) => request.fields)
    expect(received.map(({ CallStatus, SequenceNumber }) => [CallStatus, SequenceNumber])).toEqual([
      ['initiated', '0'],
      ['ringing', '1'],
      ['canceled', '2'],
    ])
    expect(new Set(received.map(({ CallSid }) => CallSid)).size).toBe(1)
  })

  it('is reported to the action, the recording’s callback and the callee’s callback while both talk', async () => {
    documents.requests.length = 0
    const callee = await Carrier.listens({ scenario: 'callee-takes' })
    const sip = `<Sip statusCallback="${documents.put('/callback', '')}">${callee.uri}</Sip>`
    const record = `record="record-from-answer-dual" recordingStatusCallback="${documents.put('/recorded', '')}"`
    bodies.one = `<Dial ${action()} ${record}>${sip}</Dial>`
    const carrier = await caller('one.test', 'call')
    await carrier.talks('answered', oneTone)
    await callee.talks('invited', otherTone)
    await carrier.hears(otherTone)
    await carrier.goesOn()
    await settled(carrier, callee)
    const [over] = await requests('/over')
    const [recorded] = await requests('/recorded')
    const [received] = await requests('/callback')
    expect(over?.fields).toMatchObject({ DialCallStatus: 'completed', DialSipResponseCode: '200' })
    expect(recorded?.fields).toMatchObject({
      RecordingStatus: 'completed',
      RecordingChannels: '2',
      RecordingSource: 'DialVerb',
      RecordingUrl: over?.fields.RecordingUrl,
    })
    expect(received?.fields).toMatchObject({ CallStatus: 'completed', CallSid: over?.fields.DialCallSid })
    const [invite = ''] = callee.sipp.received('INVITE')
    const ids = ['X-CallSid', 'X-AccountSid', 'X-ApiVersion'].map((name) => headerOf(invite, name))
    expect(ids).toEqual([over?.fields.DialCallSid, over?.fields.AccountSid, '2010-04-01'])
    for (const request of [over, recorded, received]) {
      expect(request?.method).toBe('POST')
      expect(request?.headers).toHaveProperty('x-signalwire-signature')
    }
  })
})

it('a recording is uploaded to its storageUrl, which its callback then receives', async () => {
  documents.requests.length = 0
  const store = documents.answers('/store', (response) => response.writeHead(201).end())
  const callbackUrl = documents.put('/recorded', '')
  bodies.one = `<Record playBeep="false" trim="do-not-trim" action="${url('/over')}" storageUrl="${store}?key=1" recordingStatusCallback="${callbackUrl}"/>`
  const carrier = await caller('one.test', 'call')
  await carrier.talks('answered', oneTone)
  await until(
    'the recording has started',
    () => gateway.metric('recordings'),
    (count) => count === 1,
  )
  const before = carrier.media.sent
  await until('half a second of audio was sent', () => carrier.media.sent - before >= 25)
  await carrier.goesOn()
  await settled(carrier)
  const [recorded] = await requests('/recorded')
  const [stored] = await requests('/store')
  const [over] = await requests('/over')
  expect(stored).toMatchObject({
    method: 'PUT',
    fields: { key: '1' },
    headers: { 'content-type': 'audio/wav' },
  })
  expect(stored?.body).toMatch(/^RIFF/)
  expect(Number(stored?.headers['content-length'])).toBeGreaterThan(44)
  expect(recorded?.fields).toMatchObject({ RecordingStatus: 'completed', RecordingUrl: store })
  expect(over?.fields.RecordingUrl).toContain('/api/recordings/')
  expect(await gateway.metric('recording_uploads_total', { outcome: 'stored' })).toBe(1)
})

it('Echo sends the caller’s audio back', async () => {
  bodies.one = '<Echo/>'
  const carrier = await caller('one.test', 'call')
  await carrier.talks('answered', otherTone)
  await carrier.hears(otherTone)
  await carrier.goesOn()
  await settled(carrier)
})

it('a stream reports its start, and its end with the call, to its callback', async () => {
  documents.requests.length = 0
  const stream = `<Stream name="ear" url="${streams.url}" statusCallback="${documents.put('/stream', '')}"/>`
  bodies.one = `<Start>${stream}</Start><Pause length="60"/>`
  const carrier = await caller('one.test', 'call')
  await requests('/stream')
  await carrier.goesOn()
  await settled(carrier)
  const received = (await requests('/stream', 2)).map(({ fields }) => fields)
  expect(received.map(({ StreamEvent }) => StreamEvent)).toEqual(['stream-started', 'stream-stopped'])
  expect(new Set(received.map(({ StreamSid }) => StreamSid)).size).toBe(1)
  expect(received[0]).toMatchObject({ StreamName: 'ear' })
})

it.each([
  ['200 OK', { ReferCallStatus: 'in-progress', CallStatus: 'completed' }],
  ['486 Busy Here', { ReferCallStatus: 'busy', CallStatus: 'in-progress' }],
])('Refer reports the outcome %s of the caller’s new call to the action', async (outcome, expected) => {
  documents.requests.length = 0
  bodies.one = `<Refer action="${url('/over')}"><Sip>sip:else@elsewhere.example</Sip></Refer>`
  const carrier = await Carrier.calls(gateway, {
    domain: 'one.test',
    scenario: 'call-moves',
    values: { outcome },
  })
  await settled(carrier)
  expect(await carrier.sipp.event('referred')).toContain('sip:else@elsewhere.example')
  const [over] = await requests('/over')
  const status = outcome.slice(0, 3)
  expect(over?.fields).toMatchObject({
    ...expected,
    ReferSipResponseCode: '202',
    NotifySipResponseCode: status,
  })
})

it('a caller in a queue hears the waiting document and the notice, talks to the agent, and runs the action', async () => {
  documents.requests.length = 0
  const wait = documents.put('/wait', '<Response><Say>You will be served soon.</Say></Response>')
  const notice = documents.put('/notice', '<Response><Say>This call is recorded.</Say></Response>')
  bodies.one = `<Enqueue waitUrl="${wait}" action="${url('/over')}">sales</Enqueue>`
  bodies.other = `<Dial><Queue url="${notice}">sales</Queue></Dial>`
  const waiting = await caller('one.test', 'caller-released', 0)
  await waiting.talks('answered', oneTone)
  await waiting.hearsVoice()
  const agent = await caller('other.test', 'call')
  await agent.talks('answered', otherTone)
  await waiting.hears(otherTone)
  await agent.hears(oneTone)
  await agent.goesOn()
  await settled(agent, waiting)
  const [asked] = await requests('/wait')
  const [noticed] = await requests('/notice')
  const [over] = await requests('/over')
  expect(asked?.fields).toMatchObject({
    QueuePosition: '1',
    CurrentQueueSize: '1',
    CallStatus: 'in-progress',
  })
  const { QueueSid, CallSid } = asked!.fields
  expect(noticed?.fields).toMatchObject({ QueueSid, CallSid })
  expect(noticed?.fields.DequeingCallSid).not.toBe(CallSid)
  expect(over?.fields).toMatchObject({ QueueResult: 'bridged', QueueSid, CallSid })
})

it('a conference starts with its moderator, reports to the callback of its first participant, and ends with the moderator', async () => {
  documents.requests.length = 0
  const callbackUrl = documents.put('/callback', '')
  bodies.one = `<Dial action="${url('/over')}"><Conference startConferenceOnEnter="false" statusCallback="${callbackUrl}">team</Conference></Dial>`
  bodies.other = `<Dial><Conference endConferenceOnExit="true" beep="false" statusCallback="${callbackUrl}">team</Conference></Dial>`
  const waits = await caller('one.test', 'caller-released', 0)
  await waits.talks('answered', oneTone)
  await requests('/callback')
  const starts = await caller('other.test', 'call')
  await starts.talks('answered', otherTone)
  await waits.hears(otherTone)
  await starts.hears(oneTone)
  await starts.goesOn()
  await settled(starts, waits)
  const events = (await requests('/callback', 6)).map(({ fields }) => fields)
  expect(events.map(({ StatusCallbackEvent }) => StatusCallbackEvent)).toEqual([
    'participant-join',
    'participant-join',
    'conference-start',
    'participant-leave',
    'participant-leave',
    'conference-end',
  ])
  expect(new Set(events.map(({ ConferenceSid }) => ConferenceSid)).size).toBe(1)
  const [over] = await requests('/over')
  expect(over?.fields).toMatchObject({ DialCallStatus: 'answered', CallStatus: 'in-progress' })
})
