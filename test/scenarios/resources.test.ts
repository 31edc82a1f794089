/** Resources and domain applications that are made over REST while the gateway runs, and called at once. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { Baresip } from '../support/baresip.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken } from '../support/recorded.ts'
import { made, rest } from '../support/rest.ts'
import { wav } from '../support/wav.ts'

const first = 440
const second = 700
const third = 1000
const registrar = '127.0.0.1'
const resources = '/api/fabric/resources'
const applications = '/api/relay/rest/domain_applications'

let gateway: Gateway
let sounds: DocumentServer

beforeAll(async () => {
  sounds = await DocumentServer.open()
  for (const tone of [first, second, third])
    sounds.put(`/${tone}.wav`, wav(sine(tone, 20_000, 8_000, 8_000), 8_000))
  gateway = await Gateway.start({
    http: { apiToken },
    sip: { registrar: { domains: [registrar] } },
    endpoints: [],
  })
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  await sounds?.close()
})

const soundOf = (tone: number): string => sounds.urlOf(`/${tone}.wav`)
const script = (tone: number): object => ({
  version: '1.0.0',
  sections: { main: [{ play: { url: soundOf(tone) } }] },
})
const graph = (tone: number): object => ({
  nodes: {
    in: { kind: 'start', edges: { next: 'play' } },
    play: { kind: 'play', options: { url: soundOf(tone) } },
  },
})

/** Creates a domain application with these fields. */
const application = async (identifier: string, fields: object): Promise<{ id: string; domain: string }> =>
  made(gateway, applications, { name: identifier, identifier, ...fields })

/** Creates an application with a resource as handler, and returns its domain. */
const domainOf = async (identifier: string, resourceId: string): Promise<string> =>
  (await application(identifier, { calling_handler_resource_id: resourceId })).domain

const calls = (domain: string, scenario = 'caller', values = {}): Promise<Carrier> =>
  Carrier.calls(gateway, { domain, scenario, holdMs: 'manual', values })

/** Calls, and waits until the tone is heard. */
const hears = async (domain: string, tone: number): Promise<void> => {
  const carrier = await calls(domain)
  await carrier.talks('answered', first)
  await carrier.hears(tone)
  await carrier.goesOn()
  await carrier.done()
}

/** Status for an unknown domain: with registered phones the gateway asks for a password. */
const unknownDomain = 401

const isRefused = async (domain: string, status: number): Promise<void> =>
  (await calls(domain, 'caller-refused', { status })).done()

it('a deployed call flow stays unchanged for callers while its working copy changes', async () => {
  const flow = await made(gateway, `${resources}/call_flows`, { title: 'Menu', flow_data: graph(first) })
  const handler = { call_handler: 'call_flow', call_flow_id: flow.id }
  const draft = await application('draft', handler)
  const live = await application('live', { ...handler, call_flow_version: 'current_deployed' })
  await isRefused(live.domain, 480)
  await hears(draft.domain, first)
  const versions = `${resources}/call_flow/${flow.id}/versions`
  const one = await made(gateway, versions, { document_version: 1 })
  await rest(gateway, 'PUT', `${resources}/call_flows/${flow.id}`, { relayml: script(second) })
  await hears(live.domain, first)
  await hears(draft.domain, second)
  await made(gateway, versions, { document_version: 2 })
  await hears(live.domain, second)
  await made(gateway, versions, { call_flow_version_id: one.id })
  await hears(live.domain, first)
  const wrong = await rest(gateway, 'PUT', `${resources}/call_flows/${flow.id}`, {
    flow_data: { nodes: { in: { kind: 'start', edges: { next: 'nowhere' } } } },
  })
  expect(wrong).toMatchObject({ status: 422, body: { errors: [{ attribute: 'flow_data' }] } })
  await hears(draft.domain, second)
})

it('a change of a stored document, or of an application’s handler, applies to the next call', async () => {
  const contents = `<Response><Play>${soundOf(first)}</Play></Response>`
  const xml = await made(gateway, `${resources}/cxml_scripts`, { display_name: 'Xml', contents })
  const stored = await made(gateway, `${resources}/swml_scripts`, {
    name: 'Script',
    contents: script(second),
  })
  const app = await application('stored', {
    call_handler: 'laml_application',
    call_laml_application_id: xml.id,
  })
  await hears(app.domain, first)
  await rest(gateway, 'PATCH', `${resources}/cxml_scripts/${xml.id}`, {
    contents: contents.replace(soundOf(first), soundOf(third)),
  })
  await hears(app.domain, third)
  const assigned = await rest(gateway, 'POST', `${resources}/${stored.id}/domain_applications`, {
    domain_application_id: app.id,
  })
  expect(assigned.status).toBe(200)
  await hears(app.domain, second)
  await rest(gateway, 'PUT', `${applications}/${app.id}`, { identifier: 'moved' })
  await isRefused(app.domain, unknownDomain)
  await hears(app.domain.replace('-stored.', '-moved.'), second)
  // The document of a call in progress can be removed.
  const carrier = await calls(app.domain.replace('-stored.', '-moved.'))
  await carrier.talks('answered', first)
  await carrier.hears(second)
  expect((await rest(gateway, 'DELETE', `${resources}/${stored.id}`)).status).toBe(204)
  await carrier.hears(second)
  await carrier.goesOn()
  await carrier.done()
  await isRefused(app.domain.replace('-stored.', '-moved.'), 480)
  await rest(gateway, 'DELETE', `${applications}/${app.id}`)
  await isRefused(app.domain.replace('-stored.', '-moved.'), unknownDomain)
})

it('several long invalid documents at the same time are all rejected, with the place of the fault', async () => {
  const contents = `version: 1.0.0\nsections:\n  main:\n    - nothing\n${'    - answer\n'.repeat(4_000)}`
  const send = () => rest(gateway, 'POST', `${resources}/swml_scripts`, { name: 'Long', contents })
  for (const { status, body } of await Promise.all([send(), send(), send()])) {
    expect(status).toBe(422)
    expect(body.errors[0]).toMatchObject({ code: 'document_invalid', attribute: 'contents' })
    expect(body.errors[0].message).toContain('/sections/main/0 (line 4, column 7)')
  }
})

it('callers of a room hear each other, up to its maximum number of members', async () => {
  const room = await made(gateway, `${resources}/conference_rooms`, { name: 'lounge', max_members: 2 })
  const app = await application('room', { call_handler: 'video_room', call_video_room_id: room.id })
  const one = await calls(app.domain)
  const other = await calls(app.domain)
  await one.talks('answered', first)
  await other.talks('answered', second)
  await one.hears(second)
  await other.hears(first)
  await other.goesOn()
  await other.done()
  // A caller of an XML document joins the same room, which is limited to two members.
  const xml = await made(gateway, `${resources}/cxml_scripts`, {
    display_name: 'joins',
    contents: '<Response><Connect><Room>lounge</Room></Connect></Response>',
  })
  const joined = await calls(await domainOf('joins', xml.id))
  await joined.talks('answered', third)
  await one.hears(third)
  await joined.hears(first)
  const join = [{ join_room: { name: '/public/lounge' } }, { play: { url: soundOf(second) } }]
  const full = await made(gateway, `${resources}/swml_scripts`, {
    name: 'full',
    contents: { version: '1.0.0', sections: { main: join } },
  })
  await hears(await domainOf('full', full.id), second)
  for (const carrier of [one, joined]) await carrier.goesOn()
  for (const carrier of [one, joined]) await carrier.done()
})

it('a SIP endpoint registers and is called at its address; a new password or its removal ends the registration', async () => {
  const account = { registrar: `${registrar}:${gateway.sipPort}`, password: 'long-enough-1' }
  const endpoint = await made(gateway, `${resources}/sip_endpoints`, {
    username: 'kitchen',
    password: account.password,
  })
  expect(endpoint.address).toBe('/public/kitchen')
  const app = await application('kitchen', { calling_handler_resource_id: endpoint.id })
  const phone = await Baresip.start({ user: 'kitchen', tone: third, account })
  const carrier = await calls(app.domain)
  await carrier.talks('answered', first)
  await phone.connected()
  await phone.hears(first)
  await carrier.hears(third)
  await carrier.goesOn()
  await carrier.done()
  expect(await gateway.metric('sip_bindings')).toBe(1)
  const at = `${resources}/sip_endpoints/${endpoint.id}`
  await rest(gateway, 'PATCH', at, { caller_id: '+4930123' })
  expect(await gateway.metric('sip_bindings')).toBe(1)
  await rest(gateway, 'PATCH', at, { password: 'another-one-2' })
  expect(await gateway.metric('sip_bindings')).toBe(0)
  expect((await rest(gateway, 'DELETE', at)).status).toBe(204)
  await isRefused(app.domain, 480)
})

it('a subscriber can sign in until the password changes or the subscriber is removed', async () => {
  const person = { email: 'carol@example.test', password: 'long-enough-1', first_name: 'Carol' }
  const carol = await made(gateway, '/api/fabric/subscribers', person)
  const signIn = (password: string) =>
    rest(gateway, 'POST', '/api/console/session', { email: person.email, password })
  const { status, body } = await signIn(person.password)
  expect(status).toBe(200)
  const info = () => rest(gateway, 'GET', '/api/fabric/subscriber/info', undefined, `Bearer ${body.token}`)
  expect((await info()).body).toMatchObject({ id: carol.id, first_name: 'Carol' })
  await rest(gateway, 'PATCH', `/api/fabric/subscribers/${carol.id}`, { password: 'another-one-2' })
  expect((await signIn(person.password)).status).toBe(401)
  expect((await info()).status).toBe(401)
  expect((await signIn('another-one-2')).status).toBe(200)
  await rest(gateway, 'DELETE', `/api/fabric/subscribers/${carol.id}`)
  expect((await signIn('another-one-2')).status).toBe(401)
})
