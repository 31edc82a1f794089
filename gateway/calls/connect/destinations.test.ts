import { pino } from 'pino'
import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { Target } from '../../model.ts'
import { Call } from '../call/call.ts'
import { newCallId } from '../call/ids.ts'
import { FakeOutbound, fakeLeg } from '../testing/fake-legs.ts'
import { requestFor, withoutHeaders } from './destinations.ts'
import { LegDialer, type LegDialerDeps } from './leg-dialer.ts'

const addresses = {
  resolve: (to: string): Target | undefined =>
    ({
      'sip:1@x': { kind: 'sip', uri: to } as const,
      '/public/phone': { kind: 'endpoint', endpointId: 'e1', address: to } as const,
      '/public/menu': {
        kind: 'handler',
        address: to,
        handler: { kind: 'script', document: '{}', name: 'menu' },
      } as const,
    })[to],
}

const dialer = (endpoints?: LegDialerDeps['endpoints']) => {
  const outbound = new FakeOutbound(new FakeClock())
  return new LegDialer({ addresses, endpoints, sip: outbound, subscribers: outbound, locals: outbound })
}

it('rings all contacts of an endpoint', () => {
  const contacts = [
    { kind: 'sip', uri: 'sip:a@10.0.0.1', nextHop: 'sip:192.0.2.1:5060' },
    { kind: 'sip', uri: 'sip:a@10.0.0.2' },
  ] as const
  const endpoints = { contacts: (id: string) => (id === 'e1' ? contacts : []) }
  expect(dialer(endpoints).targetsOf('/public/phone', 'p')).toEqual([
    { ...contacts[0], endpointId: 'e1' },
    { ...contacts[1], endpointId: 'e1' },
  ])
})

it.each([
  ['/public/phone', 'not_online'],
  ['/public/nobody', 'unknown_address'],
])('cannot ring %s: %s', (to, code) => {
  expect(dialer().targetsOf(to, 'p')).toMatchObject({ code })
})

it('calls an address that runs a handler', () => {
  expect(dialer().targetsOf('/public/menu', 'p')).toMatchObject([
    { kind: 'handler', address: '/public/menu' },
  ])
})

it('rings the target of a SIP URI', () => {
  expect(dialer().targetsOf('sip:1@x', 'p')).toEqual([{ kind: 'sip', uri: 'sip:1@x' }])
})

it('passes on Max-Forwards, less one, and the headers of a forwarded call', () => {
  const clock = new FakeClock()
  const callId = newCallId()
  const { leg } = fakeLeg(clock, callId)
  leg.note({ maxForwards: 10 })
  const headers = [
    { name: 'Diversion', value: '<sip:a@b>' },
    { name: 'X-Order', value: '7' },
    { name: 'history-info', value: '<sip:c@d>;index=1' },
  ]
  const info = {
    callId,
    direction: 'inbound',
    type: 'sip',
    from: '',
    to: '',
    fromUser: '',
    toUser: '',
  } as const
  const call = new Call({
    info: { ...info, fromName: '', headers, projectId: 'p' },
    caller: leg,
    clock,
    log: pino({ level: 'silent' }),
    maxDurationMs: 1_000,
  })
  expect(requestFor({ destination: { to: 'x' }, callId }, call)).toMatchObject({
    maxForwards: 9,
    forwarded: [headers[0], headers[2]],
    from: leg.from,
  })
  const shop = { to: 'x', from: 'sip:shop@y', fromName: 'Shop' }
  expect(requestFor({ destination: shop, callId }, call).from).toEqual({
    uri: 'sip:shop@y',
    user: 'shop',
    name: 'Shop',
  })
})

it.each([
  ['sip:1@x?P-Asserted-Identity=%3Csip:boss%40y%3E', 'sip:1@x'],
  [' SIPS:1@x;transport=tls?Diversion=a&Privacy=none', ' SIPS:1@x;transport=tls'],
  ['sip:a?b@x', 'sip:a?b@x'],
  ['sip:a?b@x?c=d', 'sip:a?b@x'],
  ['/public/ann?channel=audio', '/public/ann?channel=audio'],
  ['+4930123', '+4930123'],
])('removes the headers of a dialed text: %j', (to, expected) => {
  expect(withoutHeaders(to)).toBe(expected)
})

it('keeps the password of an unknown destination out of the detail', () => {
  const refusal = dialer().targetsOf('sip:trunk:s3cret@nowhere', 'p')
  expect(refusal).toEqual({ code: 'unknown_address', detail: 'sip:trunk@nowhere' })
})
