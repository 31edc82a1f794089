import { expect, it } from 'vitest'
import type { PeerConnection } from './environment.ts'
import { gathered, withoutLocalNames } from './gathering.ts'
import { FakeClock, FakePeer, settled } from './testing/fakes.ts'

const start = () => {
  const clock = new FakeClock()
  const peer = new FakePeer({})
  peer.iceGatheringState = 'gathering'
  let done = false
  void gathered(peer as unknown as PeerConnection, clock).then(() => {
    done = true
  })
  const isDone = async () => {
    await settled()
    return done
  }
  return { clock, peer, isDone }
}

it('gathering ends when the browser says so', async () => {
  const { clock, peer, isDone } = start()
  peer.iceGatheringState = 'complete'
  peer.onicegatheringstatechange?.()
  expect(await isDone()).toBe(true)
  expect(clock.running).toBe(0)
})

it('gathering ends 600 ms after the last candidate', async () => {
  const { clock, peer, isDone } = start()
  peer.onicecandidate?.({ candidate: {} })
  clock.advance(599)
  peer.onicecandidate?.({ candidate: {} })
  clock.advance(599)
  expect(await isDone()).toBe(false)
  clock.advance(1)
  expect(await isDone()).toBe(true)
  expect(clock.running).toBe(0)
})

it('gathering ends after five seconds, with or without candidates', async () => {
  const { clock, isDone } = start()
  clock.advance(4999)
  expect(await isDone()).toBe(false)
  clock.advance(1)
  expect(await isDone()).toBe(true)
})

it('candidates with local names are omitted', () => {
  const local = 'a=candidate:1 1 udp 2113937151 1f4712db-ea17-4bcf-a596-105139dfd8bf.local 54596 typ host'
  const plain = 'a=candidate:2 1 udp 2113937151 10.0.0.7 54597 typ host'
  expect(withoutLocalNames(['v=0', local, plain, ''].join('\r\n'))).toBe(['v=0', plain, ''].join('\r\n'))
})
