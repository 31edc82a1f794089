import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SenderClock, StreamClock } from './sender-clock.ts'

const hourMs = 3_600_000

/** A sender whose clock differs from the gateway's. Packets arrive after a delay. */
class Sender {
  readonly clock = new SenderClock()
  readonly audio = new StreamClock(this.clock, 48_000)
  readonly video = new StreamClock(this.clock, 90_000)
  /** Sender's clock minus the gateway's, in ms. */
  ahead: number
  /** Rate of the sender's clock; 1 is that of the gateway. */
  readonly rate: number

  constructor(ahead = 0, rate = 1) {
    this.ahead = ahead
    this.rate = rate
  }

  senderMs(at: number): number {
    return at * this.rate + this.ahead
  }

  /** Timestamp of what is captured at a time of the gateway. */
  timestamp(at: number, unitsPerMs: number): number {
    return Math.round(at * this.rate * unitsPerMs + 4_000_000_000) >>> 0
  }

  reportAudio(at: number, delayMs: number): void {
    const report = { ssrc: 1, senderMs: this.senderMs(at), timestamp: this.timestamp(at, 48) }
    this.audio.report(at + delayMs, report)
  }

  reportVideo(at: number, delayMs: number, ssrc = 2): void {
    const report = { ssrc, senderMs: this.senderMs(at), timestamp: this.timestamp(at, 90) }
    this.video.report(at + delayMs, report)
  }

  /** Error of the place of a packet, in ms; undefined without a place. */
  audioError(at: number, delayMs: number): number | undefined {
    const placed = this.audio.at(at + delayMs, this.timestamp(at, 48))
    return placed === undefined ? undefined : placed - at
  }

  videoError(at: number, delayMs: number): number | undefined {
    const placed = this.video.at(at + delayMs, this.timestamp(at, 90))
    return placed === undefined ? undefined : placed - at
  }
}

describe('the clock of a sender', () => {
  it('places nothing before the first report', () => {
    const sender = new Sender()
    expect(sender.audio.at(1000, 7)).toBeUndefined()
  })

  it.each([0, 5 * hourMs, -70 * 365 * 24 * hourMs])(
    'places packets by their capture, if it is %i ms off',
    (off) => {
      const sender = new Sender(off)
      sender.reportAudio(10_000, 5)
      sender.reportVideo(10_500, 5)
      // The picture is encoded for longer than the sound.
      expect(sender.audioError(11_000, 30)).toBeCloseTo(5, 1)
      expect(sender.videoError(11_000, 250)).toBeCloseTo(5, 1)
      expect(sender.videoError(11_000, 1900)).toBeCloseTo(5, 1)
    },
  )

  it('keeps sound and picture in step, whatever the delay of the reports', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 2, maxLength: 60 }), (delays) => {
        const sender = new Sender(-hourMs)
        sender.reportAudio(0, 40)
        sender.reportVideo(1, 300)
        for (const [i, delay] of delays.entries()) {
          const at = 1000 * (i + 1)
          if (i % 3 === 0) sender.reportAudio(at, delay)
          else sender.reportVideo(at, delay)
          const audio = sender.audioError(at + 100, 1000)!
          expect(Math.abs(audio - sender.videoError(at + 100, 1000)!)).toBeLessThan(0.1)
          expect(Math.abs(audio)).toBeLessThanOrEqual(40.1 + 5 * i)
        }
      }),
    )
  })

  it('follows clocks that run at another rate', () => {
    for (const rate of [1 - 2e-4, 1 + 2e-4]) {
      const sender = new Sender(7 * hourMs, rate)
      for (let at = 0; at <= 4 * hourMs; at += 1000) {
        sender.reportVideo(at, 5 + (at % 3000) / 100)
        if (at % 5000 === 0) sender.reportAudio(at, 5)
        if (at < 30_000 || at % 60_000 !== 0) continue
        expect(Math.abs(sender.videoError(at, 100)!)).toBeLessThan(20)
        expect(Math.abs(sender.audioError(at, 100)! - sender.videoError(at, 100)!)).toBeLessThan(1)
      }
    }
  })

  it('forgets a first report that was slow', () => {
    const sender = new Sender()
    sender.reportVideo(0, 700)
    expect(sender.videoError(1000, 800)).toBeCloseTo(700, 1)
    // Nothing is placed after its arrival.
    expect(sender.videoError(1000, 30)).toBeCloseTo(30, 1)
    sender.reportVideo(1000, 5)
    expect(sender.videoError(1100, 30)).toBeCloseTo(5, 1)
  })

  it('corrects a late report by the packets that follow, until the next report', () => {
    const sender = new Sender()
    sender.reportAudio(0, 5)
    const reported = (at: number, lateMs: number) =>
      sender.audio.report(at + 5, { ssrc: 1, senderMs: at, timestamp: sender.timestamp(at - lateMs, 48) })
    reported(5000, 300)
    expect(sender.audioError(5100, 20)).toBeCloseTo(20, 1)
    expect(sender.audioError(5120, 90)).toBeCloseTo(20, 1)
    reported(10_000, 0)
    expect(sender.audioError(10_100, 90)).toBeCloseTo(5, 1)
  })

  it('that is set by hours leaves the stream in place that has not reported since', () => {
    const sender = new Sender()
    sender.reportAudio(0, 5)
    sender.reportVideo(0, 5)
    sender.ahead = 3 * hourMs
    sender.reportVideo(1000, 5)
    expect(sender.audioError(1100, 50)).toBeCloseTo(5, 1)
    expect(sender.videoError(1100, 50)).toBeCloseTo(5, 1)
    sender.reportAudio(2000, 5)
    sender.ahead = 0
    sender.reportVideo(2000, 5)
    expect(sender.audioError(2100, 50)).toBeCloseTo(5, 1)
    expect(sender.videoError(2100, 50)).toBeCloseTo(5, 1)
  })

  it('places no packet outside of the 4 s before its arrival, whatever reports say', () => {
    const times = fc.record({
      isReport: fc.boolean(),
      ssrc: fc.integer({ min: 0, max: 20 }),
      senderMs: fc.oneof(fc.integer({ min: 0, max: 4_000_000_000_000 }), fc.integer({ min: 0, max: 90_000 })),
      timestamp: fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 4_000_000 })),
    })
    fc.assert(
      fc.property(fc.array(times, { maxLength: 80 }), (all) => {
        const stream = new StreamClock(new SenderClock(), 48_000)
        for (const [i, { isReport, ...report }] of all.entries()) {
          const now = 1000 * i
          if (isReport) stream.report(now, report)
          const at = stream.at(now, report.timestamp)
          if (at !== undefined) expect([at <= now, at >= now - 4000]).toEqual([true, true])
        }
      }),
    )
  })

  it('finds the stream of a picture in several sizes that the timestamps belong to', () => {
    const sender = new Sender()
    sender.video.report(1005, { ssrc: 8, senderMs: 1000, timestamp: 12_345 })
    expect(sender.videoError(1000, 50)).toBeUndefined()
    sender.reportVideo(1000, 5, 9)
    expect(sender.videoError(1000, 50)).toBeCloseTo(5, 1)
  })
})
