import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestStreamServer } from '../../gateway/streams/testing/stream-server.ts'
import { freePort } from '../../media/testing/free-ports.ts'
import { xmlText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { CertificateFolder } from '../support/certificates.ts'
import { type Client, RestClient } from '../support/compatibility-client.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken, authorization } from '../support/recorded.ts'
import { until } from '../support/until.ts'

const project = 'default'
const trusted = tls.getCACertificates('default')

let authority: CertificateFolder
let gateway: Gateway
let documents: DocumentServer
let client: Client
let streamed: TestStreamServer
/** Port of the gateway's HTTPS listener. */
let port: number

beforeAll(async () => {
  authority = await CertificateFolder.open()
  tls.setDefaultCACertificates([...trusted, authority.pem])
  documents = await DocumentServer.open()
  streamed = await TestStreamServer.open()
  port = await freePort()
  const files = await authority.issue('localhost')
  gateway = await Gateway.start({
    http: { apiToken, tls: { address: '127.0.0.1', port, ...files } },
    // The tests poll the states of calls.
    limits: { api: { perToken: 100_000, perAddress: 100_000 } },
    projects: [{ id: 'another', apiToken: 'token-of-another-project' }],
  })
  client = clientOf(project, apiToken)
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  await documents?.close()
  await streamed?.close()
  authority?.remove()
  tls.setDefaultCACertificates(trusted)
})

const clientOf = (id: string, token: string): Client =>
  new RestClient(id, token, { signalwireSpaceUrl: `localhost:${port}` })

const waits = xmlText('<Pause length="60"/>')
const from = '+15550001111'

/** Places a call through the API, and waits until the carrier has answered. */
const talking = async (options: object = { twiml: waits }) => {
  const carrier = await Carrier.listens({ scenario: 'callee' })
  const made = await client.calls.create({ to: carrier.uri, from, ...options })
  await carrier.sipp.event('confirmed')
  await status(made.sid, 'in-progress')
  return { carrier, sid: made.sid, made }
}

const status = (sid: string, wanted: string) =>
  until(
    `the call is ${wanted}`,
    async () => (await client.calls(sid).fetch()).status,
    (found) => found === wanted,
  )

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error) => ({ name: error.constructor.name, status: error.status, code: error.code }),
  )

const rest = (httpStatus: number, code: number) => ({ name: 'RestException', status: httpStatus, code })

describe('a call of the published client', () => {
  it('with a document’s URL can be fetched, redirected, ended and deleted', async () => {
    const url = documents.put('/hello', waits)
    const next = documents.put('/next', waits)
    const { carrier, sid, made } = await talking({ url, method: 'GET' })
    expect(made).toMatchObject({ status: 'queued', direction: 'outbound-api', to: carrier.uri, from })
    expect(made.dateCreated).toBeInstanceOf(Date)
    await until(
      'the document is asked for',
      () => documents.asked('/hello').length,
      (n) => n === 1,
    )
    expect(documents.asked('/hello')[0]).toMatchObject({
      method: 'GET',
      fields: { CallSid: sid, AccountSid: project, Direction: 'outbound-api', From: from },
    })
    expect(await client.calls(sid).update({ url: next, method: 'POST' })).toMatchObject({ sid })
    await until(
      'the next one is asked for',
      () => documents.asked('/next').length,
      (n) => n === 1,
    )
    expect(documents.asked('/next')[0]).toMatchObject({ method: 'POST', fields: { CallSid: sid } })
    expect(await refusal(client.calls(sid).remove())).toEqual(rest(409, 20009))
    await client.calls(sid).update({ status: 'completed' })
    await carrier.done()
    await status(sid, 'completed')
    expect(await client.calls(sid).fetch()).toMatchObject({ answeredBy: null, price: null })
    expect(await refusal(client.calls(sid).update({ url: next }))).toEqual(rest(409, 21220))
    expect(await client.calls(sid).remove()).toBe(true)
    expect(await refusal(client.calls(sid).fetch())).toEqual(rest(404, 20404))
    await gateway.settled()
  })

  it('with a document in the request reports every state to its callback', async () => {
    const statusCallback = documents.put('/status', '')
    const carrier = await Carrier.listens({ scenario: 'callee' })
    const { sid } = await client.calls.create({
      to: carrier.uri,
      from,
      twiml: xmlText('<Hangup/>'),
      statusCallback,
      timeout: 20,
      sendDigits: '1',
      statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
    })
    await carrier.done()
    await status(sid, 'completed')
    const states = () => documents.asked('/status').map(({ fields }) => fields.CallStatus)
    await until('the end is reported', states, (found) => found.includes('completed'))
    expect(states()).toEqual(['initiated', 'ringing', 'in-progress', 'completed'])
    expect(documents.asked('/status').at(-1)?.fields).toMatchObject({ CallSid: sid, AccountSid: project })
  })

  it('with an application can be recorded, and the recording can be paused, downloaded and deleted', async () => {
    const voiceUrl = documents.put('/application', waits)
    const application = await client.applications.create({ friendlyName: 'shop', voiceUrl })
    const { carrier, sid } = await talking({ applicationSid: application.sid })
    const { recordings } = client.calls(sid)
    const begun = await recordings.create({ recordingChannels: 'dual' })
    expect(begun).toMatchObject({ callSid: sid, status: 'in-progress', channels: 2 })
    expect(await recordings(begun.sid).update({ status: 'paused' })).toMatchObject({ status: 'paused' })
    expect(await recordings(begun.sid).update({ status: 'in-progress' })).toMatchObject({
      status: 'in-progress',
    })
    await carrier.talks('invited', 440)
    await until(
      'something is recorded',
      () => gateway.metric('media_recordings'),
      (n) => n === 1,
    )
    await client.calls(sid).update({ status: 'completed' })
    await carrier.done()
    await until(
      'the recording is over',
      async () => (await client.recordings(begun.sid).fetch()).status,
      (found) => found !== 'in-progress',
    )
    expect((await client.recordings.list({ callSid: sid })).map((each) => each.sid)).toEqual([begun.sid])
    expect((await recordings.list()).map((each) => each.sid)).toEqual([begun.sid])
    const path = `2010-04-01/Accounts/${project}/Recordings/${begun.sid}.wav`
    const sound = await fetch(`https://localhost:${port}/api/laml/${path}`, { headers: { authorization } })
    expect([sound.status, sound.headers.get('content-type')]).toEqual([200, 'audio/wav'])
    expect((await sound.arrayBuffer()).byteLength).toBeGreaterThan(44)
    expect(await client.recordings(begun.sid).remove()).toBe(true)
    expect(await refusal(client.recordings(begun.sid).fetch())).toEqual(rest(404, 20404))
    expect(await client.applications(application.sid).remove()).toBe(true)
  })

  it('is recorded from its answer on, and a stream sends its audio to a server', async () => {
    const { carrier, sid } = await talking({ twiml: waits, record: true, recordingChannels: 'dual' })
    const { streams, recordings } = client.calls(sid)
    const begun = await streams.create({
      url: streamed.url,
      name: 'live',
      track: 'inbound_track',
      'parameter1.name': 'order',
      'parameter1.value': '7',
    })
    expect(begun).toMatchObject({ callSid: sid, name: 'live', status: 'in-progress' })
    await until(
      'audio comes',
      () => streamed.of('media').length,
      (count) => count > 5,
    )
    expect(streamed.of('start')).toMatchObject([{ start: { customParameters: { order: '7' } } }])
    expect(await streams(begun.sid).update({ status: 'stopped' })).toMatchObject({ status: 'stopped' })
    await until(
      'the server receives the end',
      () => streamed.of('stop').length,
      (count) => count === 1,
    )
    expect(await refusal(streams(begun.sid).update({ status: 'stopped' }))).toEqual(rest(404, 20404))
    expect(await recordings.list()).toMatchObject([{ callSid: sid, status: 'in-progress', channels: 2 }])
    await client.calls(sid).update({ status: 'completed' })
    await carrier.done()
  })

  it('appears in lists of calls with filters and several pages', async () => {
    const carrier = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 }, count: 5 })
    const before = new Date(Date.now() - 60_000)
    const caller = '+15557654321'
    for (let i = 0; i < 5; i++) {
      const { sid } = await client.calls.create({ to: carrier.uri, from: caller, twiml: waits })
      await until('it is over', async () => (await client.calls(sid).fetch()).endTime, Boolean)
    }
    await carrier.done()
    const filter = { from: caller, startTimeAfter: before, pageSize: 2 }
    const page = await client.calls.page(filter)
    expect([page.instances.length, page.nextPageUrl]).toEqual([2, expect.stringContaining('PageToken=')])
    const all = await client.calls.list(filter)
    expect(new Set(all.map(({ sid }) => sid)).size).toBe(5)
    expect(all.map((each) => each.status)).toEqual(['busy', 'busy', 'busy', 'busy', 'busy'])
    expect(await client.calls.list({ ...filter, limit: 3 })).toHaveLength(3)
    expect(await client.calls.list({ ...filter, startTimeBefore: before })).toEqual([])
    expect(await client.calls.list({ ...filter, status: 'queued' })).toEqual([])
  })
})

describe('the published client', () => {
  it('lists queues and members, and gives a waiting caller a new document', async () => {
    const { carrier, sid } = await talking({ twiml: xmlText('<Enqueue>support</Enqueue>') })
    const [queue] = await until(
      'a caller waits',
      () => client.queues.list(),
      ({ length }) => length === 1,
    )
    expect(queue).toMatchObject({ friendlyName: 'support', currentSize: 1, averageWaitTime: 0 })
    const { members } = client.queues(queue!.sid)
    expect(await members.list()).toMatchObject([{ callSid: sid, position: 1 }])
    const url = documents.put('/dequeued', xmlText('<Hangup/>'))
    expect(await members('Front').update({ url, method: 'POST' })).toMatchObject({ callSid: sid })
    await carrier.done()
    expect(documents.asked('/dequeued')).toMatchObject([{ fields: { CallSid: sid } }])
    expect(await refusal(client.queues(queue!.sid).fetch())).toEqual(rest(404, 20404))
  })

  it('lists conferences, and mutes, holds and removes their participants', async () => {
    const twiml = xmlText('<Dial><Conference>sales</Conference></Dial>')
    const one = await talking({ twiml })
    const other = await talking({ twiml })
    const [conference] = await until(
      'the conference has begun',
      () => client.conferences.list({ friendlyName: 'sales', status: 'in-progress' }),
      ({ length }) => length === 1,
    )
    const { participants } = client.conferences(conference!.sid)
    await until(
      'both take part',
      () => participants.list(),
      ({ length }) => length === 2,
    )
    const holdUrl = documents.put('/hold', xmlText('<Pause length="60"/>'))
    expect(await participants(one.sid).update({ muted: true, hold: true, holdUrl })).toMatchObject({
      callSid: one.sid,
      muted: true,
      hold: true,
      conferenceSid: conference!.sid,
    })
    await until('the document is heard', () => documents.asked('/hold').length, Boolean)
    expect(await participants(one.sid).update({ hold: false })).toMatchObject({ hold: false })
    expect(await participants(one.sid).remove()).toBe(true)
    await one.carrier.done()
    expect((await participants.list()).map((each) => each.callSid)).toEqual([other.sid])
    await client.conferences(conference!.sid).update({ status: 'completed' })
    await other.carrier.done()
    expect(await refusal(client.conferences(conference!.sid).fetch())).toEqual(rest(404, 20404))
  })
})

describe('a rejected request of the published client', () => {
  it('throws the client’s RestException with status and code', async () => {
    const call = { to: 'sip:a@127.0.0.1:9', from, twiml: waits }
    const another = clientOf('another', 'token-of-another-project')
    const { carrier, sid } = await talking()
    const refused = await Promise.all(
      [
        client.calls.create({ to: call.to, from }),
        client.calls.create({ ...call, to: 'no number at all' }),
        client.calls.create({ ...call, to: '/public/unknown' }),
        client.calls.create({ ...call, twiml: '<Response>' }),
        client.calls.create({ ...call, timeout: 6000 }),
        client.calls.create({ ...call, statusCallback: 'https://a.example', statusCallbackEvent: ['all'] }),
        client.calls.create({ to: call.to, from, applicationSid: sid }),
        client.calls(sid).update({ status: 'canceled' }),
        another.calls(sid).fetch(),
        another.calls(sid).update({ status: 'completed' }),
        client.api.accounts('another').fetch(),
        clientOf(project, 'no-token-at-all').calls(sid).fetch(),
        client.messages.create({ to: '+1555', from, body: 'x' }),
      ].map(refusal),
    )
    expect(refused).toEqual([
      rest(400, 21205),
      rest(400, 21211),
      rest(400, 21211),
      rest(400, 20422),
      rest(400, 21208),
      rest(400, 21626),
      rest(400, 21218),
      rest(409, 21220),
      rest(404, 20404),
      rest(404, 20404),
      rest(404, 20404),
      rest(401, 20003),
      rest(404, 20404),
    ])
    expect(await another.calls.list()).toEqual([])
    expect(await client.api.accounts(project).fetch()).toMatchObject({ sid: project, status: 'active' })
    await client.calls(sid).update({ status: 'completed' })
    await carrier.done()
  })
})

it('a plain form request places a call, and the gateway answers the carrier’s challenge with the form’s credentials', async () => {
  const values = { username: 'trunk-user', password: 'trunk-secret' }
  const carrier = await Carrier.listens({ scenario: 'callee-digest', values })
  const url = documents.put('/curl', xmlText('<Hangup/>'))
  const form = { Url: url, From: from, To: carrier.uri, SipAuthUsername: 'trunk-user' }
  const answer = await fetch(`${gateway.url}/api/laml/2010-04-01/Accounts/${project}/Calls.json`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ ...form, SipAuthPassword: 'trunk-secret' }),
  })
  const { sid, status: first } = (await answer.json()) as { sid: string; status: string }
  expect([answer.status, first]).toEqual([201, 'queued'])
  await carrier.done()
  await status(sid, 'completed')
  expect(gateway.output).not.toContain('trunk-secret')
})
