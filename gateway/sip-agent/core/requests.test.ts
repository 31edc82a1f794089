import { expect, it } from 'vitest'
import type { Context } from './context.ts'
import { destinationOf } from './requests.ts'

const context = {
  transports: { addresses: [{ protocol: 'udp' }, { protocol: 'tcp' }] },
} as unknown as Context

it.each([
  ['sip:carrier.example', { protocol: 'udp', host: 'carrier.example', port: 5060 }],
  ['<sip:a@192.0.2.1:5070;transport=TCP;lr>', { protocol: 'tcp', host: '192.0.2.1', port: 5070 }],
  ['sip:a@[2001:db8::1]', { protocol: 'udp', host: '2001:db8::1', port: 5060 }],
  ['sip:a@carrier.example;maddr=[2001:db8::2]', { protocol: 'udp', host: '2001:db8::2', port: 5060 }],
  ['sip:a@192.0.2.1:0', undefined],
  ['sip:a@192.0.2.1;transport=ws', undefined],
  ['sips:a@192.0.2.1', undefined],
  ['tel:+4930', undefined],
])('%s leads to %j', (uri, destination) => {
  expect(destinationOf(uri, context)).toEqual(destination)
})
