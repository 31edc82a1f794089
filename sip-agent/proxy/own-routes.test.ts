import { beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import type { SipRequest } from '../message/message.ts'
import { message } from '../testing/messages.ts'
import { OwnRoutes } from './own-routes.ts'

const own = { host: '192.0.2.1', port: 5060, protocol: 'udp' } as const
let clock: FakeClock
let routes: OwnRoutes
beforeEach(() => {
  clock = new FakeClock()
  routes = new OwnRoutes(clock)
})

const request = ({
  from = 'caller',
  to = '',
  route = '',
  callId = 'c1',
  uri = 'sip:b@192.0.2.9',
} = {}): SipRequest =>
  message(
    `INFO ${uri} SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.9;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=${from}\r\n` +
      `To: <sip:b@b>${to && `;tag=${to}`}\r\nCall-ID: ${callId}\r\nCSeq: 1 INFO\r\n${route && `Route: ${route}\r\n`}` +
      'Content-Length: 0\r\n\r\n',
  ) as SipRequest

it('a route of the agent is recognised in both directions of its own dialog only', () => {
  const route = routes.make(own, request())
  const behind = (parts: object) =>
    routes.nextHop(request({ route: `${route}, <sip:next.example;lr>`, ...parts }))
  const found = { uri: 'sip:b@192.0.2.9', routes: ['<sip:next.example;lr>'] }
  expect(behind({ to: 'called' })).toEqual(found)
  expect(behind({ from: 'called', to: 'caller' })).toEqual(found)
  expect(behind({ from: 'other', to: 'called' })).toBeUndefined()
  expect(behind({ to: 'called', callId: 'c2' })).toBeUndefined()
  expect(new OwnRoutes(clock).nextHop(request({ route, to: 'called' }))).toBeUndefined()
})

it('a route of the agent in the request-URI is recognised, and the last route is then the request-URI (RFC 3261 16.4)', () => {
  const uri = routes.make(own, request()).slice(1, -1)
  const behind = (route: string, callId = 'c1') =>
    routes.nextHop(request({ uri, to: 'called', route, callId }))
  const found = { uri: 'sip:b@b.example', routes: ['<sip:next.example;lr>'] }
  expect(behind('<sip:next.example;lr>, <sip:b@b.example>')).toEqual(found)
  // Each side of the agent has its own route.
  expect(behind(`<${uri}>, <sip:next.example;lr>, <sip:b@b.example>`)).toEqual(found)
  expect(behind('<sip:b@b.example>')).toEqual({ ...found, routes: [] })
  expect([behind(''), behind('<sip:b@b.example>', 'c2')]).toEqual([undefined, undefined])
})

it('a route is valid for a day, and its time cannot be forged', () => {
  clock.advance(10 * 3_600_000)
  const route = routes.make(own, request())
  clock.advance(23 * 3_600_000)
  expect(routes.nextHop(request({ route, to: 'called' }))?.routes).toEqual([])
  clock.advance(3_600_000)
  expect(routes.nextHop(request({ route, to: 'called' }))).toBeUndefined()
  expect(routes.nextHop(request({ route: route.replace('-10;', '-30;'), to: 'called' }))).toBeUndefined()
})

it.each(['', '<sip:192.0.2.1;lr>', '<sip:192.0.2.1;tk;lr>', '<sip:192.0.2.1;tk=00-x;lr>', '<tel:1>'])(
  'a route like %j is not recognised',
  (route) => expect(routes.nextHop(request({ route, to: 'called' }))).toBeUndefined(),
)

it('a call can forward fifty requests per second, independent of other calls', () => {
  const taken = (callId: string) => [...Array(100)].filter(() => routes.admits(callId)).length
  expect([taken('c1'), taken('c2')]).toEqual([50, 50])
  clock.advance(100)
  expect(taken('c1')).toBe(5)
  clock.advance(60_000)
  expect(taken('c1')).toBe(50)
})

it('the state of calls is limited', () => {
  for (let i = 0; i < 30_000; i++) routes.admits(`c${i}`)
  expect(routes.size).toBeLessThanOrEqual(20_000)
})
