import type { types } from 'mediasoup'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { Vp8Source } from '../../rooms/testing/vp8-source.ts'
import { ownVideo } from '../sdp/video-format.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { Feed } from './feed.ts'

const turns = () => new Promise((resolve) => setImmediate(resolve))

const setUp = () => {
  const clock = new TestClock()
  const camera = new Vp8Source()
  const state = { open: 0, requests: 0 }
  let listener: (packet: Buffer) => void = () => {}
  const consumer = {
    on: (_: 'rtp', onPacket: (packet: Buffer) => void) => {
      listener = onPacket
    },
    resume: async () => {},
    requestKeyFrame: async () => {
      state.requests++
    },
    close: () => {},
  }
  const createDirectTransport = async () => {
    state.open++
    return { consume: async () => consumer, close: () => state.open-- }
  }
  const source = {
    producer: { id: 'camera', closed: false },
    line: { router: { createDirectTransport } },
    format: ownVideo,
  } as unknown as VideoSource & { readonly producer: types.Producer }
  const faults: Error[] = []
  const feed = new Feed(source, clock, (fault) => faults.push(fault))
  const send = (isKey = false) => {
    for (const packet of camera.frame({ isKey })) listener(packet)
  }
  return { clock, feed, send, state, faults }
}

describe('a source that is kept ready', () => {
  it('holds its packets from a key frame on, and closes after a second without a listener', async () => {
    const { clock, feed, send, state, faults } = setUp()
    feed.prepare()
    await turns()
    expect(state.open).toBe(1)
    send()
    expect(feed.held).toHaveLength(0)
    send(true)
    send()
    expect(feed.held).toHaveLength(2)
    clock.advance(999)
    expect(state.open).toBe(1)
    clock.advance(1)
    expect([state.open, feed.held.length, clock.running, faults.length]).toEqual([0, 0, 0, 0])
  })

  it('stays open for a listener that came meanwhile', async () => {
    const { clock, feed, send, state } = setUp()
    feed.prepare()
    await turns()
    const seen: Buffer[] = []
    const detach = feed.attach((packet) => seen.push(packet))
    clock.advance(2000)
    send()
    expect([state.open, seen.length]).toEqual([1, 1])
    detach()
    expect([state.open, clock.running]).toEqual([0, 0])
  })

  it('requests a key frame if it is open already, with the usual distance', async () => {
    const { clock, feed, send, state } = setUp()
    const detach = feed.attach(() => {})
    await turns()
    clock.advance(600)
    feed.prepare()
    feed.prepare()
    expect(state.requests).toBe(1)
    send(true)
    clock.advance(600)
    expect(state.requests).toBe(2)
    feed.prepare()
    expect(state.requests).toBe(2)
    detach()
    clock.advance(1000)
    expect([state.open, clock.running]).toEqual([0, 0])
  })
})
