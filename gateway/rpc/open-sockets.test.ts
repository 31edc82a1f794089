import { expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { OpenSockets } from './open-sockets.ts'

const limits = { connections: 6, waiting: 2, waitingPerAddress: 2, perAddress: 9, perAddressMinute: 99 }

it('networks with many unauthenticated connections do not keep out a network with one', () => {
  const sockets = new OpenSockets(new FakeClock(), limits)
  const waiting = ['a', 'a', 'b'].map((network) => {
    expect(sockets.refusal(network)).toBeUndefined()
    return sockets.add(network)
  })
  expect(sockets.refusal('a')).toMatchObject({ reached: 'waiting' })
  expect(sockets.refusal('b')).toMatchObject({ reached: 'waiting' })
  waiting[0]?.signedIn()
  waiting[1]?.closed()
  expect([sockets.refusal('a'), sockets.refusal('b'), sockets.waiting]).toEqual([undefined, undefined, 1])
})

it('the total number of connections is limited', () => {
  const sockets = new OpenSockets(new FakeClock(), limits)
  for (const network of ['a', 'b', 'c', 'd', 'e', 'f']) {
    expect(sockets.refusal(network)).toBeUndefined()
    sockets.add(network)
  }
  expect(sockets.refusal('g')).toMatchObject({ reached: 'connections', limit: 6 })
})

it('changed limits apply to new connections and close none', () => {
  const limits = { connections: 1, waiting: 9, waitingPerAddress: 9, perAddress: 9, perAddressMinute: 9 }
  const sockets = new OpenSockets(new FakeClock(), limits)
  sockets.add('192.0.2.1')
  expect(sockets.refusal('192.0.2.1')).toMatchObject({ reached: 'connections' })
  sockets.change({ ...limits, connections: 3, perAddressMinute: 1 })
  expect(sockets.refusal('192.0.2.1')).toBeUndefined()
  expect(sockets.refusal('192.0.2.1')).toMatchObject({ reached: 'perAddressMinute' })
  sockets.change({ ...limits, perAddress: 1, connections: 3 })
  expect(sockets.refusal('192.0.2.1')).toMatchObject({ reached: 'perAddress' })
  expect(sockets.networks).toBe(1)
})
