/** Carriers of a project over REST: creation, change and removal during calls. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken } from '../support/recorded.ts'
import { made, rest } from '../support/rest.ts'
import { SipSocket } from '../support/sip-socket.ts'
import { headerOf } from '../support/sip-text.ts'

const auth = { username: 'trunk-7', password: 'trunk-secret-7' }
const challenge = 'WWW-Authenticate: Digest realm="carrier.test", nonce="f00d", algorithm=MD5, qop="auth"'
const otherToken = 'token-of-the-other-project'
const other = `Basic ${Buffer.from(`other:${otherToken}`).toString('base64')}`
const callerTone = 440
const calleeTone = 600
const carriers = '/api/fabric/carriers'

let gateway: Gateway
/** Id of the carrier of the tests, and the port at which it listens now. */
let id: string
let port: number
/** Address of a carrier without credentials, which another project dials directly. */
const directAddress = '127.0.0.22'
let directPort: number

beforeAll(async () => {
  directPort = await freePort()
  const directly = scripted({
    connect: { to: `sip:+882@${directAddress}:${directPort}`, answer_on_bridge: true },
  })
  const dials = scripted({ connect: { to: '+15557778888', answer_on_bridge: true } })
  gateway = await Gateway.start({
    http: { apiToken },
    projects: [{ id: 'other', apiToken: otherToken, carrierCalls: { maxCalls: 1 } }],
    domains: [
      application('through.test', dials),
      { ...application('other.test', dials), project: 'other' },
      { ...application('direct.test', directly), project: 'other' },
    ],
  })
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
})

const entry = (more: object = {}): object => ({
  name: 'acme',
  default: true,
  targets: [`sip:127.0.0.1:${port}`],
  auth,
  ...more,
})

/** Calls a domain whose handler connects the caller to a number or an address. */
const calls = (domain: string, scenario = 'caller', values = {}): Promise<Carrier> =>
  Carrier.calls(gateway, { domain, scenario, holdMs: 'manual', values })

const isRefused = async (domain: string): Promise<void> =>
  (await calls(domain, 'caller-refused', { status: 404 })).done()

/** Connects a caller with the carrier, which challenges for its password. */
const through = async (): Promise<readonly [caller: Carrier, callee: Carrier]> => {
  const callee = await Carrier.listens({ scenario: 'callee-digest', values: auth, port })
  const caller = await calls('through.test')
  await callee.talks('invited', calleeTone)
  await caller.talks('answered', callerTone)
  await talk(caller, callee)
  return [caller, callee]
}

const talk = async (caller: Carrier, callee: Carrier): Promise<void> => {
  await caller.hears(calleeTone)
  await callee.hears(callerTone)
}

const ends = async (caller: Carrier, callee: Carrier): Promise<void> => {
  await caller.goesOn()
  for (const each of [caller, callee]) await each.done()
}

it('carriers of the API carry their project’s calls at once after creation, and no response or log shows the password', async () => {
  await isRefused('through.test')
  port = await freePort()
  const carrier = await made(gateway, carriers, entry())
  id = carrier.id
  expect(carrier).toMatchObject({ managed_by: 'api', auth: { username: auth.username } })
  const listed = await rest(gateway, 'GET', carriers)
  expect(listed.body.data).toEqual([carrier])
  const [caller, callee] = await through()
  await ends(caller, callee)
  const { legs } = await gateway.record(caller.callId)
  expect(legs).toMatchObject([{}, { carrier: 'default/acme' }])
  expect(JSON.stringify([listed.body, carrier])).not.toContain(auth.password)
  expect(gateway.output).not.toContain(auth.password)
})

it('carriers of the API are invisible to another project, which cannot call through them', async () => {
  await isRefused('other.test')
  expect((await rest(gateway, 'GET', carriers, undefined, other)).body.data).toEqual([])
  for (const [method, body] of [['GET'], ['PUT', entry()], ['DELETE']] as const)
    expect((await rest(gateway, method, `${carriers}/${id}`, body, other)).status).toBe(404)
})

it('a changed carrier of the API applies to the next call and keeps its password; calls in progress continue', async () => {
  const before = await through()
  port = await freePort()
  const changed = await rest(
    gateway,
    'PUT',
    `${carriers}/${id}`,
    entry({ auth: { username: auth.username } }),
  )
  expect(changed).toMatchObject({ status: 200, body: { id, targets: [`sip:127.0.0.1:${port}`] } })
  const after = await through()
  await talk(...before)
  await ends(...before)
  await ends(...after)
})

it('carriers of the API receive calls only to numbers that their lists allow', async () => {
  const put = (numbers: object) =>
    rest(gateway, 'PUT', `${carriers}/${id}`, entry({ auth: { username: auth.username }, ...numbers }))
  expect(await put({ numbers: { refuse: ['+1555'] } })).toMatchObject({
    body: { numbers: { refuse: ['+1555'] } },
  })
  await (await calls('through.test', 'caller-refused', { status: 403 })).done()
  expect(await gateway.refusal('number_not_allowed')).toMatchObject({
    to: expect.stringContaining('+15557778888'),
    detail: 'carrier default/acme: numbers.refuse has +1555',
  })
  expect(await gateway.metric('rejections_total', { code: 'number_not_allowed' })).toBe(1)
  await put({ numbers: { allow: ['+1555777'], refuse: ['+1555'] } })
  await ends(...(await through()))
  await put({})
})

it('a project’s quota limits its simultaneous calls to carriers of the API', async () => {
  const otherPort = await freePort()
  const target = { targets: [`sip:127.0.0.1:${otherPort}`] }
  const made = await rest(gateway, 'POST', carriers, entry(target), other)
  expect(made.status).toBe(201)
  const callee = await Carrier.listens({ scenario: 'callee-digest', values: auth, port: otherPort })
  const caller = await calls('other.test')
  await callee.talks('invited', calleeTone)
  await caller.talks('answered', callerTone)
  await (await calls('other.test', 'caller-refused', { status: 500 })).done()
  expect(await gateway.refusal('over_call_limit')).toMatchObject({
    detail: 'project other: 1 calls to carriers at once',
  })
  await ends(caller, callee)
  const again = await Carrier.listens({ scenario: 'callee-digest', values: auth, port: otherPort })
  const next = await calls('other.test')
  await again.talks('invited', calleeTone)
  await next.talks('answered', callerTone)
  await ends(next, again)
  expect((await rest(gateway, 'DELETE', `${carriers}/${made.body.id}`, undefined, other)).status).toBe(204)
})

it('carriers of the API without credentials cannot be dialled by another project, at a target or in an allowed network', async () => {
  const carrier = await SipSocket.udp(gateway.sipPort, directAddress, directPort)
  const isReached = async (more: object): Promise<boolean> => {
    const { id: own } = await made(gateway, carriers, {
      name: 'trunk',
      targets: [`sip:${directAddress}`],
      ...more,
    })
    const caller = await calls('direct.test', 'caller-refused', { status: 403 })
    await caller.done()
    expect((await rest(gateway, 'DELETE', `${carriers}/${own}`)).status).toBe(204)
    return carrier.answers.length > 0
  }
  expect(await isReached({})).toBe(false)
  expect(await isReached({ targets: ['sip:127.0.0.23'], allow: [`${directAddress}/32`] })).toBe(false)
})

it('carriers of the API register, and unregister when they are deleted', async () => {
  port = await freePort()
  const values = { challenge: [challenge], granted: ['Expires: 4'] }
  const registrar = await Carrier.listens({ scenario: 'registrar', values, port, timeoutMs: 60_000 })
  const line = await made(
    gateway,
    carriers,
    entry({ name: 'line', default: false, register: { expires: '10m' } }),
  )
  await registrar.sipp.event('refreshed')
  expect(await gateway.metric('registration_state', { carrier: 'default/line', state: 'registered' })).toBe(1)
  expect((await rest(gateway, 'DELETE', `${carriers}/${line.id}`)).status).toBe(204)
  await registrar.done()
  expect(headerOf(registrar.sipp.received('REGISTER').at(-1) ?? '', 'Expires')).toBe('0')
})

it('deleted carriers of the API get no new calls, and calls in progress continue', async () => {
  const present = (await rest(gateway, 'GET', `${carriers}/${id}`)).body
  port = Number(/\d+$/.exec(present.targets[0])?.[0])
  const [caller, callee] = await through()
  expect((await rest(gateway, 'DELETE', `${carriers}/${id}`)).status).toBe(204)
  await isRefused('through.test')
  await talk(caller, callee)
  await ends(caller, callee)
  expect((await rest(gateway, 'GET', `${carriers}/${id}`)).status).toBe(404)
})
