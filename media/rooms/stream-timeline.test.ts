import { describe, expect, it } from 'vitest'
import { RtpTime, StreamTimeline } from './stream-timeline.ts'

describe('the timeline of a stream', () => {
  it('has even steps although packets arrive unevenly', () => {
    const timeline = new StreamTimeline()
    timeline.at(1000, 0)
    const times = Array.from({ length: 500 }, (_, i) => timeline.at(1000 + i * 20 + (i % 7) * 9, i * 20))
    for (const [i, time] of times.entries()) expect(time).toBeCloseTo(1000 + i * 20, 5)
  })

  it('follows a clock that is 100 ppm slow or fast, for an hour', () => {
    for (const factor of [1.0001, 0.9999]) {
      const timeline = new StreamTimeline()
      for (let media = 0; media <= 3_600_000; media += 20) {
        const sent = 5000 + media * factor
        const time = timeline.at(sent + ((media / 20) % 5) * 8, media)
        if (media % 60_000 === 0) expect(Math.abs(time - sent)).toBeLessThan(10)
      }
    }
  })

  it('has a gap where the stream has one, after a second', () => {
    const timeline = new StreamTimeline()
    let time = 0
    for (let i = 0; i < 100; i++) time = timeline.at(i * 20, i * 20)
    for (let i = 100; i < 300; i++) time = timeline.at(i * 20 + 400, i * 20)
    expect(time).toBe(299 * 20 + 400)
  })

  it('survives a stall of the gateway', () => {
    const timeline = new StreamTimeline()
    let time = 0
    for (let i = 0; i < 200; i++) {
      const now = i > 100 && i < 140 ? 140 * 20 : i * 20
      time = timeline.at(now, i * 20)
    }
    expect(time).toBe(199 * 20)
  })

  it('continues at the time of arrival after a jump, and never goes back', () => {
    const timeline = new StreamTimeline()
    expect([timeline.at(1000, 0), timeline.at(1020, 9e6), timeline.at(1040, 9e6 + 20)]).toEqual([
      1000, 1020, 1040,
    ])
    expect(timeline.at(1030, 9e6 + 10)).toBe(1040)
  })
})

describe('the time of RTP timestamps', () => {
  it('follows their wrap and late packets', () => {
    const time = new RtpTime(90_000)
    expect([2 ** 32 - 90, 0, 900, 810].map((timestamp) => time.ms(timestamp))).toEqual([0, 1, 11, 10])
  })
})
