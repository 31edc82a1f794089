import { expect, it } from 'vitest'
import { defaultLimits } from '../message/limits.ts'
import { UdpTransport } from './udp.ts'

const sink = { received: () => {}, malformed: () => {}, lost: () => {} }

it.each([
  [0, '127.0.0.1'],
  [70_000, '127.0.0.1'],
])('a datagram to port %i fails by its callback and does not throw', async (port, address) => {
  const transport = new UdpTransport('127.0.0.1', sink, defaultLimits)
  await transport.open('127.0.0.1', 0)
  const failed = new Promise<string>((resolve) => {
    transport.flow(address, port).send(Buffer.from('x'), resolve)
  })
  expect(await failed).toContain('Port')
  await transport.close()
})
