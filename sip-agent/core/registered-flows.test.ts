import { describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { Headers } from '../message/headers.ts'
import type { RawResponse, SipRequest } from '../message/message.ts'
import { message } from '../testing/messages.ts'
import type { Flow, Protocol } from '../transport/types.ts'
import { RegisteredFlows } from './registered-flows.ts'

const flow = (protocol: Protocol = 'tcp', address = '198.51.100.7'): Flow => ({
  remote: { protocol, address, port: 40_000 },
  local: { protocol, address: '192.0.2.1', port: 5060 },
  isReliable: protocol !== 'udp',
  isClosed: false,
  send: () => {},
})
const ask = (contact: string, { method = 'REGISTER', expires = '', to = 'alice' } = {}): SipRequest =>
  message(
    `${method} sip:h SIP/2.0\r\nVia: SIP/2.0/TCP h;branch=z9hG4bK1\r\nFrom: <sip:a@h>;tag=f\r\nTo: <sip:${to}@h>\r\n` +
      `Call-ID: c\r\nCSeq: 1 ${method}\r\nContact: ${contact}\r\n${expires && `Expires: ${expires}\r\n`}\r\n`,
  ) as SipRequest
const grant = (lines: Record<string, string> = {}, status = 200): RawResponse => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(lines)) headers.append(name, value)
  return { kind: 'response', status, reason: 'OK', headers, body: Buffer.alloc(0) }
}
const open = (most?: number, isKnown?: (address: string) => boolean) => {
  const clock = new FakeClock()
  return { clock, flows: new RegisteredFlows(clock, isKnown, most) }
}

describe('connections of registered contacts', () => {
  it('are kept for the granted time, and removed afterwards', () => {
    const { clock, flows } = open()
    const way = flow()
    flows.learn(
      ask('<sip:x@d.invalid>'),
      grant({ Contact: '<sip:y@e.invalid>;expires=9, <sip:x@d.invalid>;expires=60' }),
      way,
    )
    expect(flows.find('sip:x@D.invalid;transport=ws')).toBe(way)
    clock.advance(59_999)
    expect(flows.find('sip:x@d.invalid')).toBe(way)
    clock.advance(1)
    expect(flows.find('sip:x@d.invalid')).toBeUndefined()
    clock.advance(30_000)
    expect([flows.size, clock.running]).toEqual([0, 0])
  })

  it.each([
    ['the Expires of the answer', { Expires: '20' }, '', 20],
    ['what was asked', {}, '40', 40],
    ['an hour', {}, '', 3_600],
  ])('are kept for %s if the answer has no time for the contact', (_name, lines, expires, seconds) => {
    const { clock, flows } = open()
    flows.learn(ask('<sip:x@d.invalid>', { expires }), grant(lines as Record<string, string>), flow())
    clock.advance(seconds * 1_000 - 1)
    expect(flows.find('sip:x@d.invalid')).toBeDefined()
    clock.advance(1)
    expect(flows.find('sip:x@d.invalid')).toBeUndefined()
  })

  it('are stored only for accepted REGISTERs and SUBSCRIBEs over connections', () => {
    const { flows } = open()
    flows.learn(ask('<sip:x@d.invalid>'), grant({}, 403), flow())
    flows.learn(ask('<sip:x@d.invalid>'), grant(), flow('udp'))
    flows.learn(ask('<sip:x@d.invalid>', { method: 'OPTIONS' }), grant(), flow())
    flows.learn(ask('<sip:d.invalid>'), grant(), flow())
    flows.learn(ask('<tel:+1>'), grant(), flow())
    expect(flows.size).toBe(0)
    flows.learn(ask('<sip:x@d.invalid>', { method: 'SUBSCRIBE' }), grant({ Expires: '5' }, 202), flow())
    expect(flows.size).toBe(1)
  })

  it.each([
    ['sip:1@sip.carrier.example', false],
    ['sip:1@203.0.113.9', false],
    ['sip:1@198.51.100.7', true],
    ['sip:1@192.168.1.9:5070', true],
    ['sip:1@x.invalid.', true],
    ['sip:1@notinvalid', false],
    ['sip:1@10.carrier.example', false],
    ['sip:1@fdcarrier.example', false],
    ['sip:1@[fd00::9]', true],
    ['sip:1@10.0.0.9', true],
    ['sip:1@10.1.0.9', false],
    ['sip:1@127.0.0.1', true],
  ])('are kept for the contact %s: %s', (uri, taken) => {
    // A carrier may be reached in a private network.
    const { flows } = open(undefined, (address) => address.startsWith('10.1.'))
    flows.learn(ask(`<${uri}>`), grant(), flow())
    expect(flows.size).toBe(taken ? 1 : 0)
  })

  it('are not used for another port of the same host', () => {
    const { flows } = open()
    flows.learn(ask('<sip:x@192.168.1.9:5070>'), grant(), flow())
    expect(flows.find('sip:x@192.168.1.9:5080')).toBeUndefined()
    expect(flows.find('sip:x@192.168.1.9')).toBeDefined()
  })

  it('lead to the latest open connection of the user', () => {
    const { flows } = open()
    const old = flow()
    const next = flow()
    flows.learn(ask('<sip:x@d.invalid>'), grant(), old)
    flows.learn(ask('<sip:x@d.invalid>'), grant(), next)
    expect(flows.find('sip:x@d.invalid')).toBe(next)
    flows.lost(next)
    expect(flows.find('sip:x@d.invalid')).toBe(old)
    flows.lost(old)
    expect(flows.size).toBe(0)
  })

  it('are not used while two users claim the same contact', () => {
    const { flows } = open()
    const hers = flow()
    const his = flow()
    flows.learn(ask('<sip:100@192.168.1.2>'), grant(), hers)
    flows.learn(ask('<sip:100@192.168.1.2>', { to: 'bob' }), grant(), his)
    expect(flows.find('sip:100@192.168.1.2')).toBeUndefined()
    flows.lost(his)
    expect(flows.find('sip:100@192.168.1.2')).toBe(hers)
  })

  it('are removed by expires=0, and by * for one address of record', () => {
    const { flows, clock } = open()
    const way = flow()
    flows.learn(ask('<sip:x@d.invalid>'), grant(), way)
    flows.learn(ask('<sip:y@d.invalid>'), grant(), way)
    flows.learn(ask('<sip:z@d.invalid>', { to: 'bob' }), grant(), way)
    flows.learn(ask('<sip:x@d.invalid>;expires=0'), grant({ Expires: '60' }), way)
    expect(flows.size).toBe(2)
    flows.learn(ask('*', { expires: '0' }), grant(), way)
    expect([flows.find('sip:y@d.invalid'), flows.find('sip:z@d.invalid')]).toEqual([undefined, way])
    flows.close()
    expect([flows.size, clock.running]).toEqual([0, 0])
  })

  it('are limited in number, per connection and in total', () => {
    const { flows } = open(100)
    const greedy = flow()
    for (let i = 0; i < 80; i++) flows.learn(ask(`<sip:u${i}@d.invalid>`), grant(), greedy)
    expect(flows.size).toBe(64)
    for (let i = 0; i < 80; i++) flows.learn(ask(`<sip:v${i}@d.invalid>`), grant(), flow())
    expect(flows.size).toBe(100)
  })
})
