import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import { TestSink } from '../testing/sink.ts'
import { Transports } from './transports.ts'
import { openGate } from './types.ts'

const maxConnections = 2
let clock: FakeClock
let met: string[]
let transports: Transports
beforeEach(async () => {
  clock = new FakeClock()
  met = []
  const gatekeeper = { ...openGate, trustPeer: (address: string) => met.push(address) }
  const sink = new TestSink()
  transports = new Transports({ sink, limits: defaultMessageLimits, clock, maxConnections, gatekeeper })
  for (const transport of ['udp', 'tcp'] as const)
    await transports.open({ transport, address: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  await transports.close()
  while (transports.connections > 0) await new Promise(setImmediate)
  expect(clock.running).toBe(0)
})

const place = (protocol: 'udp' | 'tcp', port = 9) => {
  const address = '127.0.0.2'
  return { protocol, address, port, host: address }
}

it('a destination is trusted after a send, unless another party chose it', () => {
  transports.flow(place('udp'), 'peer')
  expect(met).toEqual([])
  transports.flow(place('udp'), 'us')
  expect(met).toEqual(['127.0.0.2'])
})

it('a connection to a destination that another party chose replaces no other one', () => {
  const own = transports.flow(place('tcp', 1), 'us')
  expect(transports.flow(place('tcp', 2), 'peer')).toBeUndefined()
  expect(own?.isClosed).toBe(false)
})
