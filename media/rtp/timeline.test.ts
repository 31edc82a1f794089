import { describe, expect, it } from 'vitest'
import { Timeline, ticksPerMs } from './timeline.ts'

const frameUnits = 20 * ticksPerMs
/** Arrival time of media time 0 with the fastest transit. */
const baseTime = 5000

/** Places packets in fake time, 20 ms apart. */
class Feed {
  readonly line = new Timeline()
  now = baseTime

  place(ssrc: number, sequence: number, timestamp: number, clockRate: number | 'none' = 8000) {
    const due = (this.now - baseTime) * ticksPerMs
    const packet = { ssrc, sequence: sequence & 0xffff, timestamp: timestamp >>> 0 }
    const placed = this.line.place(this.now, packet, clockRate === 'none' ? undefined : clockRate, due)
    this.now += 20
    return placed ? [this.line.index, this.line.ticks] : undefined
  }
}

describe('the timeline', () => {
  it('continues over wraps of sequence numbers and timestamps', () => {
    const feed = new Feed()
    for (let i = 0; i < 5; i++)
      expect(feed.place(1, 65_534 + i, 0xffffff00 + 160 * i)).toEqual([i, i * frameUnits])
  })

  it('places packets that are late, early or follow a gap', () => {
    const feed = new Feed()
    feed.place(1, 10, 1000)
    expect(feed.place(1, 13, 1480)).toEqual([3, 3 * frameUnits])
    expect(feed.place(1, 11, 1160)).toEqual([1, frameUnits])
    expect(feed.place(1, 9, 840)).toEqual([-1, -frameUnits])
    // Silence of the far side: half a second without a packet.
    feed.now += 500
    expect(feed.place(1, 14, 1480 + 160 * 28)).toEqual([4, 31 * frameUnits])
  })

  it('appends another source, and rejects late packets of the former one', () => {
    const feed = new Feed()
    feed.place(1, 10, 1000)
    feed.place(1, 11, 1160)
    expect(feed.place(2, 40_000, 77)).toEqual([2, 2 * frameUnits])
    expect(feed.place(1, 12, 1320)).toBeUndefined()
    expect(feed.place(2, 40_001, 237)).toEqual([3, 3 * frameUnits])
    feed.now += 1000
    expect(feed.place(1, 13, 1480)?.[0]).toBe(4)
  })

  it("rejects events of a separate source beside the audio, and keeps the audio's source", () => {
    const feed = new Feed()
    feed.place(1, 10, 1000)
    for (let i = 1; i < 5; i++) {
      expect(feed.place(2, 40_000 + i, 1160, 'none')).toBeUndefined()
      feed.now -= 20
      expect(feed.place(1, 10 + i, 1000 + 160 * i)).toEqual([i, i * frameUnits])
    }
  })

  it('continues after a jump of the timestamp', () => {
    const feed = new Feed()
    feed.place(1, 10, 1000)
    expect(feed.place(1, 11, 900_000)).toEqual([1, frameUnits])
    expect(feed.place(1, 12, 900_160)).toEqual([2, 2 * frameUnits])
    expect(feed.place(1, 13, 5)).toEqual([3, 3 * frameUnits])
    // The clock of the far side stopped during hold.
    feed.now += 60_000
    const [index, ticks] = feed.place(1, 14, 165)!
    expect([index, ticks]).toEqual([4, 4 * frameUnits + 60_000 * ticksPerMs])
  })

  it('accepts a jump of the sequence number confirmed by a second packet', () => {
    const feed = new Feed()
    feed.place(1, 10, 1000)
    expect(feed.place(1, 30_000, 1160)).toBeUndefined()
    expect(feed.place(1, 11, 1160)).toEqual([1, frameUnits])
    expect(feed.place(1, 30_000, 1320)).toBeUndefined()
    expect(feed.place(1, 30_001, 1480)?.[0]).toBe(2)
    expect(feed.place(1, 30_002, 1640)?.[0]).toBe(3)
  })

  it('counts time over a change of the clock rate', () => {
    const feed = new Feed()
    feed.place(1, 10, 1000, 8000)
    feed.place(1, 11, 1160, 8000)
    expect(feed.place(1, 12, 555_555, 48_000)).toEqual([2, 2 * frameUnits])
    expect(feed.place(1, 13, 555_555 + 960, 48_000)).toEqual([3, 3 * frameUnits])
    expect(feed.line.step).toBe(frameUnits)
  })

  it('takes no time from events', () => {
    const feed = new Feed()
    expect(feed.place(1, 9, 1, 'none')).toBeUndefined()
    feed.place(1, 10, 1000)
    expect(feed.place(1, 11, 1160, 'none')?.[0]).toBe(1)
    expect(feed.place(1, 12, 1160, 'none')?.[0]).toBe(2)
    expect(feed.place(1, 13, 1480)).toEqual([3, 3 * frameUnits])
  })
})
