import pino from 'pino'
import { beforeEach, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import type { OutboundRequest } from '../../calls/leg/outbound-request.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { Target } from '../../model.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { rejected } from '../testing/bench.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { CarrierDirectory } from './carrier-directory.ts'
import { CarrierQuotas } from './carrier-quotas.ts'
import { DialGuard } from './dial-guard.ts'
import { DialPolicy } from './dial-policy.ts'
import { Routing, type RoutingOptions, type TakenRoute } from './routing.ts'

const logged: Record<string, unknown>[] = []
const log = pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line)) })
beforeEach(() => void logged.splice(0))

const names: Readonly<Record<string, readonly string[]>> = {
  'inside.example': ['192.0.2.1', '10.0.0.1'],
  'gw.example': ['192.0.2.7'],
  'alias.example': ['192.0.2.9', '192.0.2.7'],
}

interface Setting {
  readonly dial?: () => 'any' | 'carriers'
  readonly hasPrivateHeaders?: boolean
  readonly onDisconnected?: RoutingOptions['onDisconnected']
}

const setUp = (changes: Partial<CarrierConfig> = {}, tryings = true, more: Setting = {}) => {
  const carriers = new CarrierDirectory(
    [testCarrier({ targets: ['sip:gw.example'], ...changes })],
    new FakeClock(),
  )
  const guard = new DialGuard({
    addresses: { permits: (address) => !address.startsWith('10.') },
    find: async (host) => names[host] ?? [],
  })
  const metrics = new Metrics()
  const { dial, hasPrivateHeaders, onDisconnected } = more
  const headers = new GatewayHeaders({ userAgent: 'T', hasPrivateHeaders })
  const routing = new Routing(
    { carriers, policy: new DialPolicy(carriers, guard, dial), headers, metrics },
    { reportsTrying: tryings, onDisconnected },
  )
  return { carriers, routing, metrics }
}
const request = (changes: Partial<OutboundRequest> = {}): OutboundRequest => ({
  destination: { to: 'sip:1@gw.example' },
  projectId: 'p1',
  callId: 'call' as OutboundRequest['callId'],
  codec: 'PCMU',
  from: { uri: 'sip:+49@x.example', user: '+49', name: 'Ann' },
  ...changes,
})
type SipTarget = Extract<Target, { kind: 'sip' }>
const to = (uri: string, more: Partial<SipTarget> = {}): SipTarget => ({ kind: 'sip', uri, ...more })
const found = async (
  made: ReturnType<typeof setUp>,
  target: SipTarget,
  asked = request(),
): Promise<TakenRoute> => {
  const route = await made.routing.find(target, asked, log)
  if ('code' in route) throw new Error(`${route.code} ${route.detail}`)
  return route
}

it('a number goes through a carrier by its rules', async () => {
  const made = setUp({
    auth: { username: 'u', password: 'p' },
    identity: { from: 'username', header: 'none' },
  })
  const route = await found(made, to('sip:1@gw.example'))
  expect(route).toMatchObject({ carrier: { name: 'carrier' }, noProgressMs: 8_000 })
  expect([...route.statuses]).toEqual([408, 500, 502, 503, 504])
  expect(route.hops[0]).toMatchObject({
    uri: 'sip:1@gw.example',
    credentials: { username: 'u' },
    headers: { From: '"Ann" <sip:u@localhost>', 'Max-Forwards': '70', 'User-Agent': 'T' },
  })
})

it('a slow target is not distinguished from a silent one if the agent reports no 100', async () => {
  expect((await found(setUp({}, false), to('sip:1@gw.example'))).noProgressMs).toBeUndefined()
})

it('a target with a carrier’s name goes through that carrier, whatever its URI', async () => {
  const route = await found(setUp(), to('sip:+49@elsewhere.example', { carrier: 'carrier' }))
  expect(route.hops.map(({ uri }) => uri)).toEqual(['sip:+49@gw.example'])
})

it('other hosts are called directly, only with the credentials of the document', async () => {
  const made = setUp({ auth: { username: 'u', password: 'p' } })
  const asked = (destination: Partial<OutboundRequest['destination']>) =>
    found(made, to('sip:1@else.example?X-A=b'), request({ destination: { to: 'x', ...destination } }))
  const [plain] = (await asked({})).hops
  expect(plain).toMatchObject({ uri: 'sip:1@else.example', headers: { 'X-A': 'b' } })
  expect(plain?.credentials).toBeUndefined()
  const route = await asked({ username: 'd', password: 'q' })
  expect(route.hops[0]?.credentials).toEqual({ username: 'd', password: 'q' })
  expect(route.redirected('<sip:2@else.example>')).toEqual([])
})

it.each(['sip:1:pw@10.0.0.1', 'sip:1@inside.example'])(
  'a document cannot dial %s, and the reason is logged',
  async (uri) => {
    const made = setUp()
    expect(await made.routing.find(to(uri), request(), log)).toMatchObject({ code: 'not_permitted' })
    const detail = '10.0.0.1 is in no network that may be dialled'
    expect(logged).toMatchObject([{ code: 'not_permitted', detail, to: uri.replace(':pw', '') }])
    expect(await rejected(made.metrics, 'not_permitted')).toBe(1)
  },
)

it('the dial guard is not used for carriers and registered endpoints', async () => {
  const made = setUp({ targets: ['sip:10.0.0.1'] })
  expect((await found(made, to('sip:1@10.0.0.1'))).carrier?.name).toBe('carrier')
  const endpoint = await found(made, to('sip:ann@10.0.0.9', { nextHop: 'sip:192.0.2.7:4321;transport=tcp' }))
  await found(made, to('sip:ann@10.0.0.9', { endpointId: 'e' }))
  expect(endpoint.hops[0]).toMatchObject({
    uri: 'sip:ann@10.0.0.9',
    nextHop: 'sip:192.0.2.7:4321;transport=tcp',
  })
})

it('an invalid URI, an unknown carrier and a carrier with a rejected registration have no route', async () => {
  const made = setUp()
  const cause = (target: SipTarget) => made.routing.find(target, request(), log)
  expect(await cause(to('sip:x@'))).toMatchObject({ code: 'unreachable' })
  expect(await cause(to('sip:x@y', { carrier: 'gone' }))).toMatchObject({ code: 'unreachable' })
  made.carriers.all[0]!.isRejected = () => true
  expect(await cause(to('sip:1@gw.example'))).toMatchObject({
    code: 'unreachable',
    detail: 'carrier carrier: registration rejected',
  })
})

it('an error about an invalid URI does not contain its password', async () => {
  const cause = await setUp().routing.find(to('sip:ann:hidden@bad host'), request(), log)
  expect(cause).toMatchObject({ detail: 'sip:ann@bad host: this is no SIP URI' })
  expect(logged).toMatchObject([{ code: 'unreachable', to: 'sip:ann@bad host' }])
  expect(JSON.stringify([cause, logged])).not.toContain('hidden')
})

it('the limits of the carrier apply, and a call is released once', async () => {
  const made = setUp({ maxCalls: 1 })
  const route = await found(made, to('sip:1@gw.example'))
  expect(await made.routing.find(to('sip:1@gw.example'), request(), log)).toMatchObject({
    code: 'over_call_limit',
  })
  route.release()
  route.release()
  expect(made.carriers.all[0]?.load.calls).toBe(0)
  await found(made, to('sip:1@gw.example'))
})

it('a call that fails does not count at the carrier', async () => {
  const made = setUp({ maxCalls: 1 })
  const carrier = made.carriers.all[0]!
  carrier.hops = () => {
    throw new Error('no headers')
  }
  await expect(made.routing.find(to('sip:1@gw.example'), request(), log)).rejects.toThrow('no headers')
  expect(carrier.load.calls).toBe(0)
})

it('Max-Forwards is reduced, and a loop is ended', async () => {
  const made = setUp()
  const route = await found(made, to('sip:1@gw.example'), request({ maxForwards: 12 }))
  expect(route.hops[0]?.headers['Max-Forwards']).toBe('12')
  const last = await found(made, to('sip:1@gw.example'), request({ maxForwards: 0 }))
  expect(last.hops[0]?.headers['Max-Forwards']).toBe('0')
  expect(await made.routing.find(to('sip:1@gw.example'), request({ maxForwards: -1 }), log)).toEqual({
    code: 'too_many_hops',
  })
})

it('Diversion is passed on to carriers only', async () => {
  const forwarded = [
    { name: 'Diversion', value: '<sip:a@b>;reason=no-answer' },
    { name: 'diversion', value: '<sip:c@d>' },
    { name: 'History-Info', value: '<sip:a@b>;index=1' },
    { name: 'X-Other', value: '1' },
  ]
  const headers = async (uri: string) =>
    (await found(setUp(), to(uri), request({ forwarded }))).hops[0]?.headers
  expect(await headers('sip:1@gw.example')).toMatchObject({
    diversion: '<sip:a@b>;reason=no-answer, <sip:c@d>',
    'History-Info': '<sip:a@b>;index=1',
  })
  expect(await headers('sip:1@gw.example')).not.toHaveProperty('X-Other')
  expect(Object.keys((await headers('sip:1@else.example'))!)).not.toContain('Diversion')
})

it('the carrier’s rules have priority over headers of a document', async () => {
  const made = setUp({ identity: { from: 'caller', header: 'p-asserted-identity' } })
  const headers = [{ name: 'p-asserted-identity', value: '<sip:boss@x>' }]
  const route = await found(made, to('sip:1@gw.example'), request({ destination: { to: 'x', headers } }))
  expect(route.hops[0]?.headers['P-Asserted-Identity']).toBe('"Ann" <sip:+49@gw.example>')
  expect(route.hops[0]?.headers).not.toHaveProperty('p-asserted-identity')
})

it('the `sendAs` number of a caller is sent to carriers only', async () => {
  const from = { uri: '/public/desk', user: '+491', name: 'Desk', sendAs: '+492' }
  const made = setUp({ identity: { from: 'caller', header: 'p-asserted-identity' } })
  const [hop] = (await found(made, to('sip:1@gw.example'), request({ from }))).hops
  expect(hop?.headers).toMatchObject({
    From: '"Desk" <sip:+492@localhost>',
    'P-Asserted-Identity': '"Desk" <sip:+492@gw.example>',
  })
  const [direct] = (await found(made, to('sip:1@else.example'), request({ from }))).hops
  expect(direct?.headers.From).toBe('"Desk" <sip:+491@localhost>')
})

it('the name of a caller with privacy is not revealed when a document has renamed the caller', async () => {
  const from = { uri: 'sip:+49@x', user: '+49', name: 'Ann', private: true }
  const route = await found(
    setUp(),
    to('sip:1@gw.example'),
    request({ from, destination: { to: 'x', from: '+1' } }),
  )
  expect(route.hops[0]?.headers).toMatchObject({ From: '<sip:+1@localhost>' })
  expect(route.hops[0]?.headers).not.toHaveProperty('Privacy')
})

it('a carrier of a customer cannot have a private host', async () => {
  const targets = ['sip:gw.example', 'sip:inside.example']
  const own = setUp({ targets })
  await found(own, to('sip:1@gw.example'))
  const { routing, metrics } = setUp({ targets, guarded: true })
  expect(await routing.find(to('sip:1@gw.example'), request(), log)).toEqual({
    code: 'not_permitted',
    detail: 'carrier carrier: 10.0.0.1 is in no network that may be dialled',
  })
  expect(await rejected(metrics, 'not_permitted')).toBe(1)
})

it('a document cannot reach a carrier of another project by its address or another name', async () => {
  const { routing, carriers } = setUp({ project: 'p2' })
  for (const place of ['192.0.2.7', 'alias.example'])
    expect(await routing.find(to(`sip:1@${place}`), request(), log)).toEqual({
      code: 'not_permitted',
      detail: '192.0.2.7 is that of a carrier, and closed to calls without it',
    })
  const own = testCarrier({ name: 'own', project: 'p1', guarded: true, targets: ['sip:192.0.2.7'] })
  carriers.change([...carriers.all.map(({ config }) => config), own])
  expect(await routing.find(to('sip:1@x.example', { carrier: 'own' }), request(), log)).toMatchObject({
    detail: 'carrier own: 192.0.2.7 is that of a carrier, and closed to calls without it',
  })
})

it('a document cannot reach a network from which another project’s carrier calls', async () => {
  const { routing } = setUp({ project: 'p2', allow: ['192.0.9.0/24', '192.0.0.0/8'] })
  expect(await routing.find(to('sip:1@192.0.9.1'), request(), log)).toMatchObject({ code: 'not_permitted' })
  expect(await routing.find(to('sip:1@192.0.8.1'), request(), log)).toHaveProperty('hops')
})

it('a carrier of the API without credentials is reached only by carriers of its own project', async () => {
  const auth = { username: 'u', password: 'p' }
  for (const [changes, isClosed] of [
    [{}, true],
    [{ auth }, false],
  ] as const) {
    const made = setUp({ project: 'p2', guarded: true, ...changes })
    const route = await made.routing.find(to('sip:1@192.0.2.7'), request(), log)
    expect('code' in route).toBe(isClosed)
    const own = testCarrier({ name: 'own', project: 'p1', guarded: true, targets: ['sip:gw.example'] })
    made.carriers.change([...made.carriers.all.map(({ config }) => config), own])
    expect(await found(made, to('sip:1@gw.example'))).toMatchObject({ carrier: { name: 'own' } })
  }
})

it('only carriers and registered endpoints are reached if so configured', async () => {
  const made = setUp({}, true, { dial: () => 'carriers' })
  expect(await made.routing.find(to('sip:1@192.0.2.1'), request(), log)).toEqual({
    code: 'not_permitted',
    detail: 'only SIP URIs of carriers may be called here (sip.dial)',
  })
  await found(made, to('sip:1@gw.example'))
  await found(made, to('sip:1@192.0.2.1', { endpointId: 'e1', nextHop: 'sip:192.0.2.1:5060' }))
})

it('the far end is named only to an agent that checks addresses', async () => {
  const reach = async (uri: string, more: Partial<SipTarget> = {}, marks = true) => {
    const route = await found(setUp({}, true, { hasPrivateHeaders: marks }), to(uri, more))
    return route.hops[0]?.headers['X-Trunkline-Reach']
  }
  expect(await reach('sip:1@gw.example')).toBe('carrier carrier')
  expect(await reach('sip:1@192.0.2.1?X-Trunkline-Reach=carrier%20carrier')).toBe('project p1')
  expect(await reach('sip:1@192.0.2.1', { endpointId: 'e1', nextHop: 'sip:192.0.2.1:5060' })).toBeUndefined()
  expect(await reach('sip:1@gw.example', {}, false)).toBeUndefined()
})

it('no route leads to a carrier of another project', async () => {
  const { routing, carriers } = setUp({ project: 'p2' })
  const refused = { code: 'not_permitted', detail: 'the host is that of a carrier of another project' }
  expect(await routing.find(to('sip:1@GW.example:5062'), request(), log)).toEqual(refused)
  const own = testCarrier({ name: 'own', project: 'p1', guarded: true, targets: ['sip:gw.example'] })
  carriers.change([...carriers.all.map(({ config }) => config), own])
  expect(await routing.find(to('sip:1@x.example', { carrier: 'own' }), request(), log)).toEqual({
    ...refused,
    detail: `carrier own: ${refused.detail}`,
  })
  expect(await routing.find(to('sip:1@gw.example'), request({ projectId: 'p2' }), log)).toMatchObject({
    carrier: { name: 'carrier' },
  })
})

it('only numbers that the carrier’s lists permit are called, with the reason otherwise', async () => {
  const made = setUp({ numbers: { allow: ['+49'], refuse: ['+49900'] }, default: true })
  expect((await found(made, to('sip:+4930123@gw.example'))).hops).toHaveLength(1)
  for (const [user, detail] of [
    ['+882131234567', 'carrier carrier: numbers.allow has no prefix of the number'],
    ['+49900123', 'carrier carrier: numbers.refuse has +49900'],
    ['%2B49900123', 'carrier carrier: numbers.refuse has +49900'],
    ['+49900123:secret', 'carrier carrier: numbers.refuse has +49900'],
    ['alice', 'carrier carrier: only telephone numbers may be called'],
    ['%', 'carrier carrier: only telephone numbers may be called'],
  ])
    expect(await made.routing.find(to(`sip:${user}@gw.example`), request(), log)).toEqual({
      code: 'number_not_allowed',
      detail,
    })
  expect(await rejected(made.metrics, 'number_not_allowed')).toBe(6)
  expect(logged[0]).toMatchObject({ code: 'number_not_allowed', to: 'sip:+882131234567@gw.example' })
  // Rejected calls do not count towards the limits of the carrier.
  expect(made.carriers.byName('carrier')?.load.calls).toBe(1)
})

it('a redirection to a refused number is not followed', async () => {
  const route = await found(
    setUp({ numbers: { allow: [], refuse: ['+882'] } }),
    to('sip:+4930123@gw.example'),
  )
  const hops = route.redirected('<sip:+882131234567@gw.example>, <sip:+4930124@gw.example>')
  expect(hops.map(({ uri }) => uri)).toEqual(['sip:+4930124@gw.example'])
})

it('a call counts in the quotas of its project, and is released if the carrier accepts no more', async () => {
  const carriers = new CarrierDirectory(
    [testCarrier({ targets: ['sip:gw.example'], maxCalls: 2 })],
    new FakeClock(),
  )
  const quotas = new CarrierQuotas(
    { ofProject: () => ({ maxCalls: 3 }), perSubscriber: {}, guests: {} },
    new FakeClock(),
  )
  const deps = { carriers, policy: new DialPolicy(carriers), headers: new GatewayHeaders() }
  const routing = new Routing({ ...deps, quotas, metrics: new Metrics() }, { reportsTrying: true })
  const find = () => routing.find(to('sip:1@gw.example'), request(), log)
  const first = await find()
  const second = await find()
  for (let round = 0; round < 3; round++)
    expect(await find()).toMatchObject({ detail: 'carrier carrier: 2 calls at once' })
  carriers.change([testCarrier({ targets: ['sip:gw.example'], maxCalls: 9 })])
  const third = await find()
  expect(await find()).toMatchObject({
    code: 'over_call_limit',
    detail: 'project p1: 3 calls to carriers at once',
  })
  for (const route of [first, second, third]) if ('release' in route) route.release()
  expect(carriers.byName('carrier')?.load.calls).toBe(0)
  expect('release' in (await find())).toBe(true)
})

it('a direct call cannot bypass the number lists of the own carrier by another port, name or address', async () => {
  const made = setUp({ numbers: { allow: ['+49'], refuse: [] } })
  for (const host of ['gw.example:5080', 'alias.example', '192.0.2.7', '192.0.2.7:5080'])
    expect([host, await made.routing.find(to(`sip:+882131234567@${host}`), request(), log)]).toMatchObject([
      host,
      { code: 'not_permitted' },
    ])
  expect((await found(made, to('sip:+882131234567@else.example'))).carrier).toBeUndefined()
  // Without number lists, direct calls have nothing to bypass.
  expect((await found(setUp(), to('sip:1@gw.example:5080'))).carrier).toBeUndefined()
})
