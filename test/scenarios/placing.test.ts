/** Calls placed by `POST /api/calling/calls`, and redirections of placed calls. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { script, scriptText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { ask, command, eventsAt, states } from '../support/placed.ts'
import { apiToken, authorization } from '../support/recorded.ts'
import { until } from '../support/until.ts'
import { placedRedirects } from './groups/placed-redirects.ts'

const from = 'sip:shop@demo.example'
const all = ['created', 'ringing', 'answered', 'ended']

let server: DocumentServer
let gateway: Gateway

beforeAll(async () => {
  server = await DocumentServer.open()
  server.put('/callback', '')
  server.put('/answers', scriptText('answer', { sleep: -1 }))
  gateway = await Gateway.start({ http: { apiToken } })
})
beforeEach(() => {
  server.requests.length = 0
})
afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  await server?.close()
})

const callee = (scenario: string) => Carrier.listens({ scenario, holdMs: 'manual' })
const dial = (to: string, params: object) =>
  command(gateway, 'dial', { from, to, status_url: server.urlOf('/callback'), status_events: all, ...params })

/** Lets the callee answer after the ringing was reported. */
const picksUp = async (carrier: Carrier) => {
  await states(server, '/callback', 2)
  await carrier.goesOn()
}

describe('a call of the API', () => {
  it('runs the document at its URL, and reports all its states', async () => {
    server.put('/doc', scriptText({ play: { url: 'silence:0.2' } }, 'hangup'))
    const carrier = await callee('callee')
    const to = `${carrier.uri};transport=udp`
    const call = await dial(to, {
      url: server.urlOf('/doc'),
      caller_id: '+4930123',
      custom_variables: { order: 7 },
    })
    expect(call).toMatchObject({
      from,
      to,
      direction: 'outbound-api',
      source: 'realtime_api',
      status: 'queued',
      url: server.urlOf('/doc'),
      type: 'relay_sip_call',
      parent_id: null,
      duration: 0,
      charge: 0,
    })
    await carrier.sipp.event('invited')
    expect(carrier.sipp.received('INVITE')[0]).toContain('+4930123')
    await picksUp(carrier)
    await carrier.done()
    expect(await states(server, '/callback', 4)).toEqual(all)
    const events = eventsAt(server, '/callback')
    expect(events.map(({ params }) => params.call_id)).toEqual(all.map(() => call.id))
    expect(events[0]).toMatchObject({ project_id: 'default', params: { direction: 'outbound' } })
    expect(events[3]?.params).toMatchObject({
      end_reason: 'hangup',
      device: { type: 'sip', params: { from, to } },
    })
    const [asked] = server.asked('/doc')
    expect(JSON.parse(asked!.body)).toMatchObject({
      call: { call_id: call.id, direction: 'outbound', from, call_state: 'answered' },
      envs: { order: '7' },
    })
    await gateway.settled()
  })

  it('runs a document in the request, as an object and as YAML', async () => {
    for (const swml of [script({ play: { url: 'silence:0.1' } }), 'sections:\n  main:\n    - hangup\n']) {
      server.requests.length = 0
      const carrier = await callee('callee')
      await dial(carrier.uri, { swml })
      await carrier.sipp.event('invited')
      await picksUp(carrier)
      await carrier.done()
      expect(await states(server, '/callback', 4)).toEqual(all)
    }
    await gateway.settled()
  })

  it('runs the document of its fallback URL if the first cannot be fetched', async () => {
    const carrier = await callee('callee')
    server.put('/fallback', scriptText('hangup'))
    const urls = { url: server.urlOf('/nothing'), fallback_url: server.urlOf('/fallback') }
    await dial(carrier.uri, urls)
    await carrier.sipp.event('invited')
    await picksUp(carrier)
    await carrier.done()
    expect([server.asked('/nothing').length, server.asked('/fallback').length]).toEqual([1, 1])
    await gateway.settled()
  })

  it('sends digits as soon as it is answered', async () => {
    const carrier = await callee('callee')
    await dial(carrier.uri, { send_digits: 'w12#', url: server.urlOf('/answers') })
    await carrier.talks('invited', 400)
    await picksUp(carrier)
    await carrier.sipp.event('confirmed')
    await carrier.receivesDigits('12#')
    const { id } = eventsAt(server, '/callback').map(({ params }) => ({ id: String(params.call_id) }))[0]!
    await command(gateway, 'calling.end', {}, id)
    await carrier.done()
    await gateway.settled()
  })

  it('reports the end reason declined when the callee declines', async () => {
    const carrier = await Carrier.listens({ scenario: 'callee-declines', values: { status: 603 } })
    await dial(carrier.uri, { url: server.urlOf('/answers') })
    const received = await states(server, '/callback', 2)
    expect(received.at(-1)).toBe('ended')
    expect(eventsAt(server, '/callback').at(-1)?.params).toMatchObject({ end_reason: 'declined' })
    await gateway.settled()
  })

  it('can be cancelled while it rings', async () => {
    const carrier = await callee('callee-cancelled')
    const { id } = await dial(carrier.uri, { url: server.urlOf('/answers') })
    await carrier.sipp.event('invited')
    await states(server, '/callback', 2)
    expect(await command(gateway, 'update', { id, status: 'canceled' })).toMatchObject({ status: 'canceled' })
    await carrier.done()
    expect((await states(server, '/callback', 3)).at(-1)).toBe('ended')
    expect(eventsAt(server, '/callback').at(-1)?.params).toMatchObject({ end_reason: 'cancel' })
    expect(server.asked('/answers')).toEqual([])
    await gateway.settled()
  })
})

/** Places a call that is answered and waits. */
const answered = async (params: object = {}) => {
  const carrier = await callee('callee')
  const { id } = await dial(carrier.uri, { url: server.urlOf('/answers'), ...params })
  await carrier.talks('invited', 400)
  await picksUp(carrier)
  await carrier.sipp.event('confirmed')
  await states(server, '/callback', 3)
  return { carrier, id }
}

describe('a call in progress', () => {
  it('can be completed, but not cancelled', async () => {
    const { carrier, id } = await answered()
    expect(await ask(gateway, 'update', { id, status: 'canceled' })).toMatchObject({ status: 409 })
    expect(await command(gateway, 'update', { id, status: 'completed' })).toMatchObject({
      status: 'completed',
    })
    await carrier.done()
    expect(await states(server, '/callback', 4)).toEqual(all)
    expect(await ask(gateway, 'update', { id, status: 'completed' })).toMatchObject({ status: 409 })
    await gateway.settled()
  })

  it('can get another document while it plays', async () => {
    server.put('/long', scriptText({ play: { url: 'ring:us' } }, { play: { url: 'ring:us' } }))
    server.put('/next', scriptText({ play: { url: 'say:Good bye' } }, 'hangup'))
    const { carrier, id } = await answered({ url: server.urlOf('/long') })
    await command(gateway, 'update', { id, url: server.urlOf('/next') })
    await carrier.hearsVoice()
    await carrier.done()
    expect(server.asked('/next')).toHaveLength(1)
    expect(await states(server, '/callback', 4)).toEqual(all)
    await gateway.settled()
  })

  it('plays and records by commands beside its document, and reports their states', async () => {
    const { carrier, id } = await answered()
    const play = [{ type: 'tts', params: { text: 'Hello out there, how are you' } }]
    await command(
      gateway,
      'calling.record',
      { control_id: 'r', record: { audio: { direction: 'both' } } },
      id,
    )
    await command(gateway, 'calling.play', { control_id: 'p', play }, id)
    await carrier.hearsVoice()
    const received = (type: string) =>
      eventsAt(server, '/callback')
        .filter(({ event_type }) => event_type === type)
        .map(({ params }) => `${params.control_id} ${params.state}`)
    await until(
      'the play is over',
      () => received('calling.call.play'),
      (list) => list.includes('p finished'),
    )
    await command(gateway, 'calling.record.stop', { control_id: 'r' }, id)
    await until(
      'the recording is over',
      () => received('calling.call.record'),
      (list) => list.length === 2,
    )
    expect(received('calling.call.play')).toEqual(['p playing', 'p finished'])
    expect(received('calling.call.record')).toEqual(['r recording', 'r finished'])
    expect(await ask(gateway, 'calling.play.stop', { control_id: 'p' }, id)).toMatchObject({ status: 404 })
    await command(gateway, 'calling.end', { reason: 'hangup' }, id)
    await carrier.done()
    await gateway.settled()
  })

  it('can be transferred to another document', async () => {
    server.put('/next', scriptText('hangup'))
    const { carrier, id } = await answered()
    await command(gateway, 'calling.transfer', { dest: server.urlOf('/next') }, id)
    await carrier.done()
    expect(server.asked('/next')).toHaveLength(1)
    await gateway.settled()
  })
})

describe('an invalid command', () => {
  const to = 'sip:desk@127.0.0.1:9'
  const url = 'http://127.0.0.1:9/doc'
  it.each([
    ['dial', { from, url }, 'to', 'missing_required_parameter'],
    ['dial', { to, url }, 'from', 'missing_required_parameter'],
    ['dial', { from, to }, 'url', 'missing_required_parameter'],
    ['dial', { from, to, url, swml: {} }, 'swml', 'invalid_field'],
    ['dial', { from, to, url: 'ftp://x' }, 'url', 'invalid_field'],
    ['dial', { from, to, swml: { sections: {} } }, 'swml', 'document_invalid'],
    ['dial', { from, to, url, timeout: 601 }, 'timeout', 'invalid_field'],
    ['dial', { from, to, url, codecs: 'VP8' }, 'codecs', 'invalid_field'],
    ['dial', { from, to, url, send_digits: 'x' }, 'send_digits', 'invalid_field'],
    ['dial', { from, to, url, status_url: url, status_events: ['gone'] }, 'status_events', 'invalid_field'],
    ['dial', { from, to, url, password: 'x' }, 'username', 'missing_required_parameter'],
    ['dial', { from, to, url, to_script: 'x' }, 'to_script', 'unknown_parameter'],
    ['dial', { from, to: '/public/nobody', url }, 'to', 'unknown_address'],
    ['dial', { from, to: '+4930123', url }, 'to', 'no_carrier'],
    ['dial', { from, to: 'nonsense', url }, 'to', 'unknown_address'],
    ['update', { url }, 'id', 'missing_required_parameter'],
  ])('%s %o is rejected with a fault of the parameter %s (%s)', async (name, params, attribute, code) => {
    const { status, body } = await ask(gateway, name, params)
    expect(status).toBe(422)
    const [fault] = body.errors as readonly object[]
    expect(fault).toMatchObject({ attribute, code, type: 'validation_error' })
  })

  it('is rejected for a forbidden host, an unknown call, an unknown command and missing credentials', async () => {
    const { status, body } = await ask(gateway, 'dial', { from, to: 'sip:x@10.1.2.3', url })
    expect([status, body]).toMatchObject([403, { errors: [{ code: 'not_permitted', attribute: 'to' }] }])
    for (const name of ['calling.play', 'calling.end', 'update'])
      expect(
        await ask(gateway, name, name === 'update' ? { url } : {}, 'c0ffee00-0000-4000-8000-000000000000'),
      ).toMatchObject({ status: 404, body: { errors: [{ code: 'unknown_call' }] } })
    expect(await ask(gateway, 'calling.dance', {})).toMatchObject({ status: 422 })
    expect((await fetch(`${gateway.url}/api/calling/calls`, { method: 'POST' })).status).toBe(401)
  })
})

it('calls can be placed and ended by JSON-RPC, with its error codes', async () => {
  const rpc = async (method: string, params: object) => {
    const answer = await fetch(`${gateway.url}/api/calling/rpc`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await answer.json()) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
  const carrier = await callee('callee')
  const statusOptions = { status_url: server.urlOf('/callback'), status_events: all }
  const { result } = await rpc('calling.dial', {
    from,
    to: carrier.uri,
    url: server.urlOf('/answers'),
    ...statusOptions,
  })
  expect(result).toMatchObject({ status: 'queued', direction: 'outbound-api' })
  await carrier.sipp.event('invited')
  await picksUp(carrier)
  await carrier.sipp.event('confirmed')
  await states(server, '/callback', 3)
  expect(await rpc('calling.end', { id: result?.id })).toMatchObject({ result: { status: 'completed' } })
  await carrier.done()
  expect(await rpc('calling.dial', { from })).toMatchObject({
    error: { code: -32602, data: { attribute: 'to' } },
  })
  expect(await rpc('calling.dance', {})).toMatchObject({ error: { code: -32601 } })
  await gateway.settled()
})

placedRedirects(() => ({ gateway, server }))
