/** Addresses with a handler, reached from documents, realtime applications, the calling API and REFER. */
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { SignalWire } from '../../realtime/src/index.ts'
import { application, flowText, scripted, scriptText, xmlText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { made, rest } from '../support/rest.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'

const apiToken = 'token-of-the-scenario'
const callerTone = 440
const otherTone = 600
const menuTone = 800
const earlyTone = 1000

let gateway: Gateway
let server: DocumentServer

beforeAll(async () => {
  server = await DocumentServer.open()
  server.put('/menu.wav', wav(sine(menuTone, 1_500, 8000, 8000), 8000))
  server.put('/early.wav', wav(sine(earlyTone, 1_500, 8000, 8000), 8000))
  server.put('/callback', '')
  const served = (name: string) => server.urlOf(`/${name}`)
  gateway = await Gateway.start({
    http: { apiToken },
    limits: { addressDepth: 4 },
    domains: [
      application('script.test', { kind: 'script', url: served('caller') }),
      application('xml.test', { kind: 'xml', url: served('caller') }),
      application('second.test', { kind: 'xml', url: served('second') }),
    ],
    resources: [
      {
        address: '/public/menu',
        handler: scripted(
          { prompt: { play: served('menu.wav'), max_digits: 1 } },
          { send_digits: { digits: '9' } },
          { play: { url: served('menu.wav') } },
        ),
      },
      { address: '/public/hook', handler: { kind: 'script', url: served('hook') } },
      {
        address: '/public/flow',
        handler: { kind: 'flow', document: flowText('forward', { to: [{ to: '/public/lounge' }] }) },
      },
      { address: '/public/agent', handler: { kind: 'realtime', topic: 'agent' } },
      { address: '/public/busy', handler: scripted({ hangup: { reason: 'busy' } }) },
      { address: '/public/here', handler: scripted({ connect: { to: '/public/there' } }) },
      { address: '/public/there', handler: scripted({ connect: { to: '/public/here' } }) },
    ],
  })
  await made(gateway, '/api/fabric/resources/conference_rooms', { name: 'lounge' })
})
afterEach(async () => {
  await gateway.settled()
  server.requests.length = 0
})
afterAll(async () => {
  await gateway?.stop()
  await server?.close()
})

/** Calls with a document. `call` hangs up on request; `caller-released` waits for the gateway's BYE. */
const calls = async (
  document: string,
  scenario = 'call',
  more: { readonly domain?: string; readonly values?: Record<string, string> } = {},
): Promise<Carrier> => {
  const kind = document.startsWith('<') ? 'xml' : 'script'
  server.put(more.domain === undefined ? '/caller' : '/second', document)
  return Carrier.calls(gateway, { domain: `${kind}.test`, scenario, holdMs: 'manual', ...more })
}

it('a script connects the caller to a menu at an address; digits pass both ways, and either side can hang up', async () => {
  const carrier = await calls(
    scriptText(
      { connect: { to: '/public/menu', answer_on_bridge: true } },
      { play: { url: server.urlOf('/early.wav') } },
    ),
  )
  await carrier.talks('answered', callerTone)
  await carrier.hears(menuTone)
  carrier.media.press('5')
  await carrier.receivesDigits('9')
  // The menu has ended, and the caller's document continues.
  await carrier.hears(earlyTone)
  await carrier.goesOn()
  await carrier.done()
  const again = await calls(scriptText({ connect: { to: '/public/menu' } }))
  await again.talks('answered', callerTone)
  await again.hears(menuTone)
  await again.goesOn()
  await again.done()
  await gateway.settled()
})

it('an XML document dials an address whose call flow leads to a room; the caller talks there with another caller', async () => {
  const first = await calls(xmlText('<Dial><Client>/public/flow</Client></Dial>'))
  await first.talks('answered', callerTone)
  const second = await calls(xmlText('<Dial><Client>lounge</Client></Dial>'), 'call', {
    domain: 'second.test',
  })
  await second.talks('answered', otherTone)
  await first.hears(otherTone)
  await second.hears(callerTone)
  await first.goesOn()
  await second.goesOn()
  await first.done()
  await second.done()
})

it('the script URL of an address receives the call with its headers, and the caller hears early media', async () => {
  const desk = await Carrier.listens({ scenario: 'callee-takes' })
  server.put('/hook', scriptText({ connect: { to: desk.uri, answer_on_bridge: true } }))
  const headers = [{ name: 'X-Order', value: '7' }]
  const carrier = await calls(scriptText({ connect: { to: '/public/hook', headers } }))
  await carrier.talks('answered', callerTone)
  await desk.talks('invited', otherTone)
  await carrier.hears(otherTone)
  await desk.hears(callerTone)
  const { call } = JSON.parse(server.asked('/hook')[0]!.body)
  expect(call).toMatchObject({ direction: 'inbound', to: '/public/hook', type: 'sip', headers })
  await carrier.goesOn()
  await carrier.done()
  await desk.done()
})

it('a realtime application connects a call to an address, and the application behind that address answers it', async () => {
  const client = await SignalWire({
    project: 'default',
    token: apiToken,
    host: `ws://127.0.0.1:${gateway.httpPort}`,
  })
  onTestFinished(() => client.disconnect())
  const taken: string[] = []
  await client.voice.listen({
    topics: ['agent'],
    onCallReceived: async (call) => {
      taken.push(`${call.direction} ${call.to}`)
      await call.answer()
      await call.playAudio({ url: server.urlOf('/menu.wav') })
    },
  })
  const carrier = await Carrier.listens({ scenario: 'callee' })
  const call = await client.voice.dialSip({ from: 'sip:me@office.test', to: carrier.uri, timeout: 10 })
  await carrier.talks('invited', callerTone)
  const peer = await call.connectSip({ from: 'sip:me@office.test', to: '/public/agent', timeout: 10 })
  await carrier.hears(menuTone)
  expect(peer.state).toBe('answered')
  expect(taken).toEqual(['inbound /public/agent'])
  await call.hangup()
  await carrier.done()
})

it('the API calls an address; the fallback of the document in the request runs on the API’s side of the call', async () => {
  server.put('/hook', scriptText('answer', { play: { url: server.urlOf('/early.wav') } }))
  const desk = await Carrier.listens({ scenario: 'callee' })
  server.put('/own', scriptText({ connect: { to: desk.uri } }))
  const dial = async (more: object) => {
    const params = { from: '+4930123', to: '/public/hook', ...more }
    const { status, body } = await rest(gateway, 'POST', '/api/calling/calls', { command: 'dial', params })
    expect([status, body.type, body.to]).toEqual([200, 'relay_sip_call', '/public/hook'])
    return body.id as string
  }
  const gone = server.urlOf('/no-such-document')
  const id = await dial({ url: gone, fallback_url: server.urlOf('/own') })
  await desk.talks('invited', callerTone)
  await desk.hears(earlyTone)
  await rest(gateway, 'POST', '/api/calling/calls', {
    command: 'update',
    params: { id, status: 'completed' },
  })
  await desk.done()
  await gateway.settled()
  type Row = Readonly<Record<'id' | 'direction' | 'to' | 'status', string>> & {
    readonly parent_id: string | null
  }
  const rows = await until(
    'both calls are in the call log, and over',
    async () => {
      const { body } = await rest(gateway, 'GET', '/api/voice/logs?page_size=20')
      const of = (row: Row) => row.id === id || row.parent_id === id
      return (body.data as readonly Row[]).filter(of)
    },
    (found) => found.length === 3 && found.every(({ status }) => status === 'completed'),
  )
  expect(rows.find((row) => row.id === id)).toMatchObject({ direction: 'outbound-api', parent_id: null })
  expect(rows.map((row) => [row.direction, row.to])).toContainEqual(['inbound', '/public/hook'])
  expect(rows.map((row) => [row.direction, row.to])).toContainEqual(['outbound-dial', desk.uri])
})

it('a call of the API whose document cannot be fetched ends with the reason error in its status callback', async () => {
  server.put('/hook', scriptText('answer', { play: { url: server.urlOf('/early.wav') } }))
  const params = {
    from: '+4930123',
    to: '/public/hook',
    url: server.urlOf('/no-such-document'),
    status_url: server.urlOf('/callback'),
  }
  const placed = await rest(gateway, 'POST', '/api/calling/calls', { command: 'dial', params })
  expect(placed.status).toBe(200)
  const [received] = await until(
    'the end is reported',
    () => server.asked('/callback'),
    ({ length }) => length > 0,
  )
  expect(JSON.parse(received!.body).params).toMatchObject({ call_state: 'ended', end_reason: 'error' })
  const { body } = await until(
    'the end is in the call log',
    () => rest(gateway, 'GET', `/api/voice/logs/${placed.body.id}`),
    (log) => log.body.status === 'completed',
  )
  expect(body).toMatchObject({ status: 'completed', code: 'document_unreachable' })
})

it('an address and a telephone ring in parallel: the first answer cancels the others; a busy address is reported as busy', async () => {
  const rings = await Carrier.listens({ scenario: 'callee-cancelled' })
  const carrier = await calls(
    scriptText({
      connect: { parallel: [{ to: rings.uri }, { to: '/public/busy' }, { to: '/public/menu' }] },
    }),
  )
  await carrier.talks('answered', callerTone)
  await rings.done()
  await carrier.hears(menuTone)
  await carrier.goesOn()
  await carrier.done()
  const refused = await calls(
    scriptText(
      { connect: { to: '/public/busy', answer_on_bridge: true } },
      { request: { url: `${server.urlOf('/callback')}?why=%{connect_failed_reason}`, method: 'GET' } },
      { hangup: { reason: 'busy' } },
    ),
    'caller-refused',
    { values: { status: '486' } },
  )
  await refused.done()
  expect(server.asked('/callback')[0]?.fields).toMatchObject({ why: 'busy' })
})

it('a loop of addresses is rejected at the depth limit, with the chain of addresses in the log', async () => {
  const before = await gateway.metric('rejections_total', { code: 'too_many_hops' })
  const carrier = await calls(scriptText({ connect: { to: '/public/here' } }), 'caller-released')
  await carrier.done()
  expect(await gateway.metric('rejections_total', { code: 'too_many_hops' })).toBe(before + 1)
  expect(await gateway.refusal('too_many_hops')).toMatchObject({
    chain: ['/public/here', '/public/there', '/public/here', '/public/there', '/public/here'],
    limit: 4,
  })
})
