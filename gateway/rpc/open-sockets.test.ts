import { expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { OpenSockets } from './open-sockets.ts'

const limits = { connections: 6, waiting: 2, waitingPerAddress: 2, perAddress: 9, perAddressMinute: 99 }

it('networks that have many connections waiting keep out none that has one', () => {
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

it('all connections together are bounded, whoever they are of', () => {
  const sockets = new OpenSockets(new FakeClock(), limits)
  for (const network of ['a', 'b', 'c', 'd', 'e', 'f']) {
    expect(sockets.refusal(network)).toBeUndefined()
    sockets.add(network)
  }
  expect(sockets.refusal('g')).toMatchObject({ reached: 'connections', limit: 6 })
})
