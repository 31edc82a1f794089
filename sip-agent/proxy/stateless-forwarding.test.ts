import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import type { Context } from '../core/context.ts'
import type { SipRequest } from '../message/message.ts'
import { message, RecordingFlow } from '../testing/messages.ts'
import type { ChosenBy, Hop } from '../transport/types.ts'
import { OwnRoutes } from './own-routes.ts'
import { StatelessForwarding } from './stateless-forwarding.ts'

const own = { host: '192.0.2.1', port: 5060, protocol: 'udp' } as const
let routes: OwnRoutes
let passing: StatelessForwarding
/** Source of the requests. */
let sender: RecordingFlow
/** The places that the router finds; undefined: it finds no transport. */
let places: Map<string, RecordingFlow> | undefined
let registered: Map<string, RecordingFlow>
/** Queries to the router. */
let sought: string[]
let failed: string[]
let faults: unknown[]
/** Hops that were used as the agent's own choice. */
let met: string[]
/** Statuses that were counted as refusals of the agent. */
let refused: number[]

const hop = (address: string): Hop => ({ protocol: 'udp', address, port: 5060, host: address })

beforeEach(() => {
  routes = new OwnRoutes(new FakeClock())
  sender = new RecordingFlow()
  places = new Map()
  registered = new Map()
  sought = []
  failed = []
  faults = []
  met = []
  refused = []
  const context = {
    registeredFlows: { find: (uri: string) => registered.get(uri) },
    router: {
      find: (uri: string, done: (hops: readonly Hop[]) => void) => {
        sought.push(uri)
        if (!places) return false
        done([...places.keys()].map(hop))
        return true
      },
      failed: ({ address }: Hop) => failed.push(address),
    },
    transports: {
      addresses: [],
      ownHost: () => '192.0.2.1',
      flow: ({ address }: Hop, by: ChosenBy) => {
        if (by === 'us') met.push(address)
        return places?.get(address)
      },
    },
    refusals: { add: (status: number) => refused.push(status) },
  } as unknown as Context
  passing = new StatelessForwarding(context, routes, (error) => faults.push(error))
})

const request = (method = 'INFO', uri = 'sip:b@b.invalid', lines = ''): SipRequest => {
  const text = (more: string) =>
    `${method} ${uri} SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.9;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=f\r\n` +
    `To: <sip:b@b>;tag=t\r\nCall-ID: c1\r\nCSeq: 1 ${method}\r\n${more}Content-Length: 0\r\n\r\n`
  const route = routes.make(own, message(text('')) as SipRequest)
  return message(text(`Route: ${route}\r\n${lines}`)) as SipRequest
}
const pass = (...parts: Parameters<typeof request>) => {
  expect(passing.request(request(...parts), sender)).toBe(true)
  return sender.sent.splice(0).map((text) => Number(text.slice(8, 11)))
}
const broken = () => {
  const flow = new RecordingFlow()
  flow.failure = 'refused'
  return flow
}

describe('a request of a dialog that the agent proxied', () => {
  it('to a browser is sent over the connection of its registration', () => {
    const browser = new RecordingFlow(true)
    registered.set('sip:b@b.invalid', browser)
    expect([pass(), browser.sent.length]).toEqual([[], 1])
  })

  it('is sent to the next hop if the first is unreachable', () => {
    const second = new RecordingFlow()
    places = new Map([
      ['192.0.2.11', broken()],
      ['192.0.2.12', second],
    ])
    expect([pass(), failed, second.sent.length]).toEqual([[], ['192.0.2.11'], 1])
  })

  it('is sent to the address that the sender wrote, without making the address trusted', () => {
    const far = new RecordingFlow()
    places = new Map([['192.0.2.11', far]])
    expect([pass(), far.sent.length, met]).toEqual([[], 1, []])
  })

  it.each([
    ['a loose', '<sip:p1;lr>, <sip:p2;lr>', 'sip:b@b.invalid', ['<sip:p1;lr>', '<sip:p2;lr>'], 'sip:p1;lr'],
    ['a strict', '<sip:p1>, <sip:p2;lr>', 'sip:p1', ['<sip:p2;lr>', '<sip:b@b.invalid>'], 'sip:p1'],
    ['a lonely strict', '<sip:p1;x=1>', 'sip:p1;x=1', ['<sip:b@b.invalid>'], 'sip:p1;x=1'],
  ])('to %s router has the form that the router needs (RFC 3261 16.6)', (_kind, lines, uri, left, next) => {
    const far = new RecordingFlow()
    places = new Map([['192.0.2.11', far]])
    pass('INFO', 'sip:b@b.invalid', `Route: ${lines}\r\n`)
    const sent = message(far.sent[0] ?? '') as SipRequest
    expect([sent.uri, sent.headers.all('route'), sought]).toEqual([uri, left, [next]])
  })

  it('from a strict router, with the agent’s route in the request-URI, is sent to its last route (RFC 3261 16.4)', () => {
    const far = new RecordingFlow()
    places = new Map([['192.0.2.11', far]])
    const [route = ''] = request().headers.all('route')
    const ours = route.slice(1, -1)
    expect(pass('INFO', ours, 'Route: <sip:p2;lr>, <sip:b@b.example>\r\n')).toEqual([])
    const sent = message(far.sent[0] ?? '') as SipRequest
    expect([sent.uri, sent.headers.all('route'), sought]).toEqual([
      'sip:b@b.example',
      ['<sip:p2;lr>'],
      ['sip:p2;lr'],
    ])
  })

  it('is answered with 480 without a reachable hop', () => {
    expect(pass()).toEqual([480])
    places = new Map([['192.0.2.11', broken()]])
    expect(pass()).toEqual([480])
    places = undefined
    expect(pass()).toEqual([480])
  })

  it('is not answered if it is an ACK', () => {
    expect(pass('ACK')).toEqual([])
  })

  it('is rejected if the call has too many requests', () => {
    const far = new RecordingFlow()
    places = new Map([['192.0.2.11', far]])
    const statuses = [...Array(60)].flatMap(() => pass())
    expect([far.sent.length, statuses]).toEqual([50, Array(10).fill(503)])
    expect(refused).toEqual(statuses)
  })

  it('causes no failure of the agent if sending to the next hop throws', () => {
    const far = new RecordingFlow()
    places = new Map([['192.0.2.11', broken()]])
    sender.send = () => {
      throw new Error('broken')
    }
    passing.request(request(), sender)
    expect([String(faults), far.sent]).toEqual(['Error: broken', []])
  })
})
