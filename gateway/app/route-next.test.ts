import { expect, it } from 'vitest'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { HandlerSpec, Target } from '../model.ts'
import type { PresenceAnswer } from '../operator/presence-answer.ts'
import { type NextDeps, nextSteps, type PresenceQuestion } from './route-next.ts'
import type { RouteQuery } from './route-test.ts'

const query: RouteQuery = {
  source: '192.0.2.1',
  transport: 'udp',
  method: 'INVITE',
  uri: 'sip:1@demo.example',
}

const targets: Readonly<Record<string, Target>> = {
  '/public/alice': { kind: 'subscriber', subscriberId: 's1', address: '/public/alice' },
  '/public/bob': { kind: 'subscriber', subscriberId: 's2', address: '/public/bob' },
  '/public/desk': { kind: 'endpoint', endpointId: 'e1', address: '/public/desk' },
  '/public/menu': { kind: 'handler', handler: { kind: 'realtime', topic: 't' }, address: '/public/menu' },
  '+4930': { kind: 'sip', uri: 'sip:+4930@gw.acme.example', carrier: 'acme' },
}
const online: PresenceAnswer = { addresses: { '/public/alice': 2, '/public/desk': 1 }, topics: { office: 3 } }

const asked: PresenceQuestion[] = []
const depsWith = (presence: PresenceAnswer | undefined, fetch?: NextDeps['fetch']): NextDeps => ({
  directory: { resolve: (to) => targets[to] },
  presence: async (question) => {
    asked.push(question)
    return presence
  },
  ...(fetch && { fetch }),
})

const next = (handler: HandlerSpec, deps = depsWith(online)) =>
  nextSteps({ plan: { kind: 'handler', handler }, projectId: 'p1' }, query, deps)

const script = (main: readonly unknown[]) =>
  ({ kind: 'script', document: JSON.stringify({ sections: { main } }), name: 'x' }) as const

it('shows the first steps of a script, and who is online', async () => {
  const connect = { connect: { parallel: [{ to: '/public/alice' }, { to: '/public/bob' }] } }
  expect(
    await next(script([{ play: { url: 'say:Hi' } }, connect, { connect: { to: '/public/alcie' } }])),
  ).toEqual([
    '1. play url: say:Hi',
    '2. connect parallel: [{ to: /public/alice }, { to: /public/bob }]',
    '3. connect to: /public/alcie',
    '/public/alice: subscriber; online, 2 browsers',
    '/public/bob: subscriber; not online',
    '/public/alcie: no such address',
  ])
  expect(asked.at(-1)).toEqual({ project: 'p1', addresses: ['/public/alice', '/public/bob'], topics: [] })
})

it('shows the branches of a step in lines of their own', async () => {
  const hangup = ['hangup']
  const steps = [
    {
      switch: {
        variable: 'prompt_value',
        case: { 1: [{ play: { url: 'say:Sales.' } }, { connect: { to: '/public/sales' } }], 2: hangup },
        default: [{ goto: { label: 'menu' } }],
      },
    },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of scripts.
    { cond: [{ when: 'vars.open', then: hangup, else: [] }, { else: hangup }] },
    { connect: { to: '/public/alice', result: { case: { connected: hangup } } } },
    { switch: { variable: 'x', case: Object.fromEntries(Array.from('abcdefgh', (each) => [each, hangup])) } },
    { label: 'menu' },
  ]
  expect(await next(script(steps))).toEqual([
    '1. switch prompt_value',
    '   1: play url: say:Sales., then connect to: /public/sales',
    '   2: hangup',
    '   otherwise: goto label: menu',
    '2. cond',
    '   if vars.open: hangup',
    '   if not vars.open: nothing',
    '   otherwise: hangup',
    '3. connect to: /public/alice',
    '   result connected: hangup',
    '4. switch x',
    ...Array.from('abcdef', (each) => `   ${each}: hangup`),
    '   and 2 more branches',
    '5. label name: menu',
    '/public/alice: subscriber; online, 2 browsers',
  ])
})

it('shows no secrets of a step', async () => {
  const url = 'https://me:hush@app.example/x?token=hush'
  const headers = { Authorization: 'Bearer hush' }
  expect(
    await next(
      script([{ play: { url } }, { request: { url: 'https://a.example', method: 'GET', headers } }]),
    ),
  ).toEqual([
    '1. play url: https://(secret)@app.example/x?(secret)',
    '2. request url: https://a.example, method: GET, headers: { Authorization: (secret) }',
  ])
  const document = `<Response><Play>${url}</Play><Dial><Conference>${url}</Conference></Dial></Response>`
  expect((await next({ kind: 'xml', document, name: 'x' })).join('\n')).not.toContain('hush')
})

it('says that presence is unknown while no gateway runs', async () => {
  expect(await next(script([{ connect: { to: '/public/alice' } }]), depsWith(undefined))).toContain(
    '/public/alice: subscriber; presence unknown: no gateway is running',
  )
})

it('shows no more than six steps, and shortens them', async () => {
  const lines = await next(
    script(Array.from({ length: 8 }, () => ({ play: { url: `say:${'x'.repeat(200)}` } }))),
  )
  expect(lines).toHaveLength(7)
  expect(lines[0]).toHaveLength('1. '.length + 100)
  expect(lines.at(-1)).toBe('and 2 more steps')
})

it('shows the verbs of an XML document, with a client without a context in public', async () => {
  const document =
    '<Response><Say>Welcome.</Say><Dial><Client>alice</Client><Sip>sip:x@y</Sip></Dial></Response>'
  expect(await next({ kind: 'xml', document, name: 'x' })).toEqual([
    '1. <Say> Welcome.',
    '2. <Dial> <Client>alice <Sip>sip:x@y',
    '/public/alice: subscriber; online, 2 browsers',
    'sip:x@y: no such address',
  ])
})

it('shows the faults of a document', async () => {
  expect(await next({ kind: 'xml', document: '<Response><Say>', name: 'x' })).toEqual([
    expect.stringMatching(/^the document is invalid: 1:\d+ /),
  ])
})

it.each([
  [online, '3 listen on office'],
  [{ addresses: {}, topics: {} }, 'no application listens on office: the call is rejected'],
  [undefined, 'applications on office: unknown, no gateway is running'],
])('shows the applications of a topic: %j', async (presence, line) => {
  expect(await next({ kind: 'realtime', topic: 'office' }, depsWith(presence))).toEqual([line])
})

it.each([
  ['+4930', '+4930: calls sip:+4930@gw.acme.example by carrier acme'],
  ['/public/desk', '/public/desk: SIP endpoint; online, 1 phones'],
  ['/public/menu', '/public/menu: runs the realtime handler of the address'],
])('shows the destination %s of an endpoint', async (to, line) => {
  const plan = { kind: 'dial', to } as const
  expect(await nextSteps({ plan, projectId: 'p1' }, query, depsWith(online))).toEqual([line])
})

const url = 'https://user:hush@app.example/call?token=hush'

it('shows a URL without its secrets, and does not fetch it unasked', async () => {
  const fallbackUrl = 'https://other.example/call'
  expect(await next({ kind: 'xml', url, method: 'GET', fallbackUrl })).toEqual([
    'fetches https://app.example/call (GET); --fetch does so now',
    'if that fails: fetches https://other.example/call',
  ])
})

it('shows the first steps of a fetched document', async () => {
  const sent: unknown[] = []
  const deps = depsWith(online, async (request, projectId) => {
    sent.push([request.method, new URLSearchParams(request.body?.text).get('CallSid'), projectId])
    return { url, contentType: 'text/xml', text: '<Response><Say>Hi</Say></Response>' }
  })
  expect(await next({ kind: 'xml', url }, deps)).toEqual([
    'fetches https://app.example/call (POST): 34 characters, text/xml',
    '1. <Say> Hi',
  ])
  expect(sent).toEqual([['POST', 'route-test', 'p1']])
})

it.each([
  [{ status: 500 }, 'fetches https://app.example/call (POST): fails (status 500)'],
  [{ reason: 'forbidden address' }, 'fetches https://app.example/call (POST): fails (forbidden address)'],
])('shows that a document cannot be fetched: %j', async (facts, line) => {
  const deps = depsWith(online, async () => {
    throw new TrunklineError('document_unreachable', undefined, facts)
  })
  expect(await next({ kind: 'script', url }, deps)).toEqual([line])
})
