import { describe, expect, it } from 'vitest'
import { OutgoingStream } from './outgoing-stream.ts'

const seed = { ssrc: 7, sequence: 65_530, timestamp: 0xfffffc00 }
const alice = {}
const bob = {}

/** Stream whose packets are numbered from its seed, so that wraps do not obscure the numbers. */
function setUp() {
  const stream = new OutgoingStream(seed)
  const read = () => ({
    sequence: (stream.header.sequence - seed.sequence + 0x10000) & 0xffff,
    timestamp: (stream.header.timestamp - seed.timestamp) >>> 0,
    marker: stream.header.marker,
  })
  const forward = (now: number, sequence: number, timestamp: number, source: object = alice, ssrc = 1) =>
    stream.forward(now, source, ssrc, sequence & 0xffff, timestamp >>> 0, 160, false) ? read() : undefined
  const own = (now: number, source: object) => {
    stream.own(now, source, 160)
    return read()
  }
  const event = (now: number, samples: number, first: boolean) => {
    stream.event(now, samples / 8, first)
    return read()
  }
  return { stream, forward, own, event }
}

describe('the outgoing stream', () => {
  it('starts at its seed, and continues with its source over both wraps', () => {
    const { forward } = setUp()
    for (let i = 0; i < 20; i++) {
      expect(forward(i * 20, 65_528 + i, 0xffffff00 + i * 160)).toEqual({
        sequence: i,
        timestamp: i * 160,
        marker: i === 0,
      })
    }
  })

  it("shows the source's losses and reordering, and drops duplicates", () => {
    const { forward } = setUp()
    forward(0, 100, 0)
    expect(forward(60, 103, 480)).toEqual({ sequence: 3, timestamp: 480, marker: false })
    expect(forward(61, 102, 320)).toEqual({ sequence: 2, timestamp: 320, marker: false })
    expect(forward(62, 103, 480)).toBeUndefined()
    expect(forward(80, 104, 640)).toEqual({ sequence: 4, timestamp: 640, marker: false })
  })

  it('sends a late packet once, over the wrap as well', () => {
    const { forward } = setUp()
    forward(0, 65_530, 0)
    // The stream's own sequence wraps among them too.
    expect(forward(240, 65_542, 1920)).toMatchObject({ sequence: 12 })
    for (const [sequence, place] of [
      [65_541, 11],
      [65_534, 4],
      [65_535, 5],
    ] as const) {
      const timestamp = place * 160
      expect(forward(241, sequence, timestamp)).toEqual({ sequence: place, timestamp, marker: false })
      expect(forward(242, sequence, timestamp)).toBeUndefined()
    }
    // Only packets never sent may still follow.
    const sent = Array.from({ length: 12 }, (_, i) => forward(250, 65_530 + i, i * 160)?.sequence)
    expect(sent.filter((each) => each !== undefined)).toEqual([1, 2, 3, 6, 7, 8, 9, 10])
  })

  it.each([
    ['that of the newest', 1600],
    ['after that of the newest', 1601],
    ['hours ahead', 1600 + 2 ** 30],
    ['hours behind', 1600 - 2 ** 30],
    ['before the source began', -1],
  ])('rejects a late packet whose timestamp is %s', (_, timestamp) => {
    const { forward } = setUp()
    forward(0, 100, 0)
    forward(200, 110, 1600)
    expect(forward(201, 109, timestamp)).toBeUndefined()
    expect(forward(202, 109, 1440)).toEqual({ sequence: 9, timestamp: 1440, marker: false })
  })

  it('rejects a late packet from over a second ago, also after many hours', () => {
    const { forward } = setUp()
    let now = 0
    for (let i = 0; i <= 5000; i++, now += 20_000) forward(now, i, i * 160_000)
    const newest = 5000 * 160_000
    forward(now, 5010, newest + 160_000)
    expect(forward(now, 5001, newest + 160_000 - 8001)).toBeUndefined()
    expect(forward(now, 5001, newest + 160_000 - 8000)).toBeDefined()
  })

  it('advances by the elapsed time when the source changes, with the marker', () => {
    const { forward, own } = setUp()
    own(0, bob)
    own(20, bob)
    expect(forward(45, 9, 123_456)).toEqual({ sequence: 2, timestamp: 320, marker: true })
    expect(own(1045, bob)).toEqual({ sequence: 3, timestamp: 320 + 8040, marker: true })
  })

  it('never covers the same time twice, however close the change', () => {
    const { forward, own } = setUp()
    forward(0, 1, 0)
    expect(own(1, bob)).toEqual({ sequence: 1, timestamp: 160, marker: true })
  })

  it('drops a late packet of a source after a change', () => {
    const { forward, own } = setUp()
    forward(0, 100, 0)
    own(20, bob)
    forward(40, 103, 480)
    expect(forward(41, 102, 320)).toBeUndefined()
    expect(forward(60, 104, 640)).toEqual({ sequence: 3, timestamp: 480, marker: false })
  })

  it('treats a new SSRC of the same source as a change', () => {
    const { forward } = setUp()
    forward(0, 100, 0)
    expect(forward(20, 7000, 999_999, alice, 2)).toEqual({ sequence: 1, timestamp: 160, marker: true })
  })

  it.each([
    ['its sequence falls far back', 60_000, 160],
    ['its sequence jumps ahead', 5000, 160],
    ['its timestamp jumps back', 101, -80_000],
    ['its timestamp jumps ahead of the time', 101, 800_000],
    ['its timestamp stands still', 101, 0],
  ])('does not jump with a source if %s', (_, sequence, timestamp) => {
    const { forward } = setUp()
    forward(0, 100, 0)
    expect(forward(20, sequence, timestamp)).toEqual({ sequence: 1, timestamp: 160, marker: true })
  })

  it('follows a silent source that skips the silence in its timestamps', () => {
    const { forward } = setUp()
    forward(0, 100, 0)
    expect(forward(5000, 101, 40_100)).toEqual({ sequence: 1, timestamp: 40_100, marker: false })
  })

  it('closes up the number of an omitted packet', () => {
    const { stream, forward } = setUp()
    forward(0, 100, 0)
    for (let i = 101; i <= 105; i++) stream.leaveOut(alice, 1, i)
    expect(forward(120, 106, 960)).toEqual({ sequence: 1, timestamp: 960, marker: false })
    expect(forward(121, 105, 800)).toBeUndefined()
    // One lost before an omitted one still appears as one lost.
    stream.leaveOut(alice, 1, 108)
    expect(forward(180, 109, 1440)).toEqual({ sequence: 3, timestamp: 1440, marker: false })
    stream.leaveOut(bob, 1, 110)
    expect(forward(200, 110, 1600)).toEqual({ sequence: 4, timestamp: 1600, marker: false })
  })

  it('gives all packets of an event the timestamp of its start, and later audio a later one', () => {
    const { event, own } = setUp()
    own(0, bob)
    expect(event(20, 160, true)).toEqual({ sequence: 1, timestamp: 160, marker: true })
    expect(event(70, 400, false)).toEqual({ sequence: 2, timestamp: 160, marker: false })
    expect(event(120, 800, false)).toEqual({ sequence: 3, timestamp: 160, marker: false })
    expect(event(220, 800, false)).toEqual({ sequence: 4, timestamp: 160, marker: false })
    expect(event(220, 160, true)).toEqual({ sequence: 5, timestamp: 160 + 1600, marker: true })
    expect(own(260, bob)).toEqual({ sequence: 6, timestamp: 160 + 1600 + 320, marker: true })
  })

  it('resumes after twelve minutes of hold with the next sequence number', () => {
    const { forward } = setUp()
    forward(0, 100, 0)
    const later = 12 * 60_000
    expect(forward(later, 101, 160)).toEqual({ sequence: 1, timestamp: later * 8, marker: true })
  })

  it('continues at the rate of another clock, and lets an event keep its timestamp', () => {
    const { stream, forward, own, event } = setUp()
    own(0, bob)
    stream.setClock(48_000)
    expect(forward(20, 9, 5)).toEqual({ sequence: 1, timestamp: 960, marker: true })
    stream.setClock(48_000)
    expect(forward(40, 10, 965)).toEqual({ sequence: 2, timestamp: 1920, marker: false })
    expect(event(60, 160, true)).toMatchObject({ timestamp: 2880, marker: true })
    stream.setClock(8000)
    expect(event(110, 800, false)).toMatchObject({ timestamp: 2880, marker: false })
    expect(own(160, bob)).toEqual({ sequence: 5, timestamp: 3680, marker: true })
  })

  it('counts skipped audio, and marks the packet after it', () => {
    const { stream, own } = setUp()
    own(0, bob)
    stream.skip(160)
    stream.skip(160)
    expect(own(60, bob)).toEqual({ sequence: 1, timestamp: 480, marker: true })
    expect(own(80, bob)).toEqual({ sequence: 2, timestamp: 640, marker: false })
  })

  it('does not mark silence, but the audio after it', () => {
    const { stream, own } = setUp()
    own(0, bob)
    stream.silence(200, 160)
    expect(stream.header.marker).toBe(false)
    expect(own(220, bob)).toEqual({ sequence: 2, timestamp: 1760, marker: true })
  })

  it('returns the timestamp of any time', () => {
    const { stream, own } = setUp()
    own(1000, bob)
    expect((stream.timestampAt(1500) - seed.timestamp) >>> 0).toBe(4000)
  })

  it('never goes back and never repeats, for any sources', () => {
    let state = 42
    const random = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
      return (state >>> 8) % below
    }
    const { stream, forward, own, event } = setUp()
    let now = 0
    let source = { sequence: 500, timestamp: 9000 }
    let last = { sequence: -1, timestamp: -1 }
    for (let i = 0; i < 5000; i++) {
      now += random(50) === 0 ? random(5000) : 20
      source = { sequence: source.sequence + 1, timestamp: source.timestamp + 160 }
      if (random(100) === 0) source = { sequence: random(65_536), timestamp: random(2 ** 31) }
      const choice = random(20)
      const sent =
        choice === 0
          ? own(now, bob)
          : choice === 1
            ? event(now, 160, true)
            : forward(now, source.sequence, source.timestamp)
      if (choice === 2) stream.interrupt()
      if (!sent) continue
      // Unwrapped, so that a step back cannot hide.
      const sequence = last.sequence + ((sent.sequence - last.sequence) & 0xffff)
      const step = (sent.timestamp - last.timestamp) | 0
      expect(sequence).toBe(last.sequence + 1)
      expect(last.sequence < 0 || (step > 0 && step < 100_000)).toBe(true)
      last = { sequence, timestamp: sent.timestamp }
    }
  })
})
