import { describe, expect, it } from 'vitest'
import { dominant } from '../codecs/tone.ts'
import type { AudioSink } from './audio-sinks.ts'
import { rateOf, TestVoice } from './testing/codecs.ts'
import { discontinuities, type TestLine, TestTime } from './testing/session-line.ts'

const second = 1000
const minute = 60 * second

/** Time-out for tests with much work, on a busy machine. */
const patient = { timeout: 300_000 }

/** Counts the received frames. */
class CountingSink implements AudioSink {
  readonly rate = 8000
  readonly tracks = 'both'
  frames = 0
  spoken = 0

  write(input: Int16Array | undefined): void {
    this.frames++
    if (input) this.spoken++
  }
}

/** Returns the difference between packet timestamps and elapsed time, in ms. */
function drift(line: TestLine, perMs: number): number {
  const first = line.sent[0]!
  const last = line.sent.at(-1)!
  return ((last.timestamp - first.timestamp) | 0) / perMs - (last.at - first.at)
}

describe('a long call', () => {
  it("with two codecs neither drifts nor grows, although both far ends' clocks are off", patient, () => {
    const time = new TestTime()
    const a = time.line('192.0.2.1')
    const b = time.line('198.51.100.1')
    a.set({ codec: 'PCMU' })
    b.set({ codec: 'L16' })
    a.session.join(b.session)
    const voices = { a: new TestVoice('PCMU', 600), b: new TestVoice('L16', 900) }
    const start = time.now
    let said = 0
    let heard = 0
    for (let passed = 0; passed < 5; passed++) {
      // One clock is 0.2 % fast, the other slow: a packet more, or less, every 10 s.
      time.pass(minute, () => {
        const ms = time.now - start
        for (; said < (ms * 1.002) / 20; said++) a.say(voices.a)
        for (; heard < (ms * 0.998) / 20; heard++) b.say(voices.b)
      })
      for (const [line, perMs] of [
        [a, 8],
        [b, 16],
      ] as const) {
        expect(Math.abs(line.sent.length - minute / 20)).toBeLessThan(10)
        expect(Math.abs(drift(line, perMs))).toBeLessThanOrEqual(20)
        expect(discontinuities(line.sent)).toEqual([])
        const [codec, tone] = line === a ? (['PCMU', 900] as const) : (['L16', 600] as const)
        expect(dominant(line.audio(codec, line.sent.length - 50), rateOf(codec))).toBe(tone)
        line.sent.length = 0
      }
    }
    a.session.close(time.now)
    b.session.close(time.now)
    expect([a.session.isFramed, b.session.isFramed]).toEqual([false, false])
    expect(a.session.stats()).toMatchObject({ received: said, lost: 0 })
  })

  it('of two hours reaches a sink completely', patient, () => {
    const time = new TestTime()
    const a = time.line('192.0.2.1')
    const b = time.line('198.51.100.1')
    a.set()
    b.set()
    a.session.join(b.session)
    const sink = new CountingSink()
    a.session.addSink(sink)
    const payload = Buffer.alloc(160, 0x2a)
    const start = time.now
    let said = 0
    for (let passed = 0; passed < 120; passed++) {
      time.pass(minute, () => {
        for (; said < ((time.now - start) * 1.0002) / 20; said++) a.hear(payload)
      })
      expect(discontinuities(b.sent)).toEqual([])
      b.sent.length = 0
    }
    expect(sink.frames).toBe((120 * minute) / 20)
    expect(sink.frames - sink.spoken).toBeLessThan(20)
    a.session.removeSink(sink)
    expect([a.session.isFramed, a.session.stats().received]).toEqual([false, said])
  })

  it("of two hours with forwarded packets keeps the sender's clock, through holds and prompts", {
    timeout: 120_000,
  }, () => {
    const time = new TestTime()
    const a = time.line('192.0.2.1')
    const b = time.line('198.51.100.1')
    a.set()
    b.set()
    a.session.join(b.session)
    const payload = Buffer.alloc(160, 0x2a)
    for (let passed = 0; passed < 120; passed++) {
      if (passed % 20 === 10) b.set({ direction: 'inactive' })
      if (passed % 20 === 11) b.set()
      if (passed % 7 === 0) b.session.promptMixer.play(passed, new Int16Array(8000), 8000, 1, 0)
      time.pass(minute, () => a.hear(payload))
      expect(discontinuities(b.sent)).toEqual([])
      const last = b.sent.at(-1)
      if (passed % 20 !== 10) expect(Math.abs(drift(b, 8))).toBeLessThanOrEqual(40)
      b.sent.splice(0, b.sent.length, ...(last ? [last] : []))
    }
    expect(b.played).toHaveLength(18)
  })
})
