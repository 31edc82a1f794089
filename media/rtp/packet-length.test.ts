import { beforeEach, describe, expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import type { AudioCodec } from '../types.ts'
import { payloadTypeOf, rateOf, TestVoice, unitsOf } from './testing/codecs.ts'
import { discontinuities, type SentPacket, type TestLine, TestTime } from './testing/session-line.ts'

/** Durations of the packets in ms, by the steps of their timestamps. */
const lengths = (sent: readonly SentPacket[], codec: AudioCodec): number[] =>
  sent.slice(1).map(({ timestamp }, i) => ((timestamp - sent[i]!.timestamp) >>> 0) / unitsOf(codec, 1))

describe('the length of forwarded packets', () => {
  let time: TestTime
  let a: TestLine
  let b: TestLine

  beforeEach(() => {
    time = new TestTime()
    a = time.line('192.0.2.1')
    b = time.line('198.51.100.1')
  })

  const join = (codec: AudioCodec, ptime: number | undefined, to = codec) => {
    a.set({ codec })
    b.set({ codec: to, ...(ptime !== undefined && { ptime }) })
    time.pass(200)
    a.session.join(b.session)
    b.sent.length = 0
  }

  /** The far end of `a` speaks for `ms` in packets of its own length. */
  const talk = (voice: TestVoice, ms: number) => {
    let due = 0
    time.pass(ms, (step) => {
      for (; due <= step * 20; due += voice.ptimeMs) a.say(voice)
    })
  }

  const carried = (['PCMU', 'PCMA', 'G722', 'L16', 'opus'] as const).flatMap((codec) =>
    [
      [60, 20],
      [10, 40],
      [20, 10],
    ].map(([from, to]) => [codec, from!, to!] as const),
  )

  it.each([...carried, ['PCMU', 30, 20], ['G722', 20, 50]] as const)(
    'of %s is that which the far end asks for: from %i to %i ms',
    (codec, from, to) => {
      join(codec, to)
      talk(new TestVoice(codec, 700, from), 2000)
      expect(new Set(lengths(b.sent, codec))).toEqual(new Set([to]))
      expect(discontinuities(b.sent)).toEqual([])
      expect(b.sent.filter(({ marker }) => marker)).toHaveLength(1)
      const heard = b.audio(codec).slice(-rateOf(codec) / 2)
      expect(goertzel([...heard], 700, rateOf(codec))).toBeGreaterThan(0.97)
      a.session.detach()
      time.pass(2000)
      expect([a.session.isFramed, b.session.isFramed]).toEqual([false, false])
    },
  )

  it('is the requested one between the two laws of G.711, too', () => {
    join('PCMU', 20, 'PCMA')
    talk(new TestVoice('PCMU', 700, 40), 1000)
    expect(new Set(b.sent.map(({ payload }) => payload.length))).toEqual(new Set([160]))
  })

  it.each(
    (['PCMU', 'G722', 'opus'] as const).flatMap((codec) =>
      [
        [20, 20],
        [40, 40],
        [60, undefined],
      ].map(([from, asked]) => [codec, from!, asked] as const),
    ),
  )('leaves %s of %i ms unchanged if %s ms are requested', (codec, from, asked) => {
    join(codec, asked)
    const voice = new TestVoice(codec, 700, from)
    const same = new TestVoice(codec, 700, from)
    for (let i = 0; i < 20; i++) {
      a.say(voice)
      expect(b.sent[i]?.payload.equals(same.say())).toBe(true)
    }
    expect([a.session.isFramed, b.session.isFramed]).toEqual([false, false])
  })

  it('leaves Opus unchanged if the requested length does not exist in Opus', () => {
    join('opus', 30)
    a.say(new TestVoice('opus', 700, 20))
    expect([b.sent.length, b.session.isFramed]).toEqual([1, false])
  })

  it('never exceeds the requested one from the first longer packet on, and packets are forwarded again later', () => {
    join('PCMU', 20)
    talk(new TestVoice('PCMU', 700, 20), 200)
    expect(b.session.isFramed).toBe(false)
    talk(new TestVoice('PCMU', 700, 40), 1000)
    expect(Math.max(...b.sent.map(({ payload }) => payload.length))).toBe(160)
    talk(new TestVoice('PCMU', 700, 20), 2000)
    expect(b.session.isFramed).toBe(false)
    expect(Math.max(...b.sent.map(({ payload }) => payload.length))).toBe(160)
    expect(discontinuities(b.sent)).toEqual([])
  })

  it('does not start decoding for the short end of an announcement', () => {
    join('PCMU', 20)
    for (let i = 0; i < 10; i++) {
      a.hear()
      a.hear(Buffer.alloc(90, 0x2a), { advance: 90 })
    }
    expect([b.sent.length, b.session.isFramed]).toEqual([20, false])
  })

  it('is kept over a description with the same codec', () => {
    join('PCMU', 20)
    talk(new TestVoice('PCMU', 700, 30), 500)
    a.set({ port: 4002 })
    expect(b.session.isFramed).toBe(true)
  })

  it('follows a changed request during the call', () => {
    join('PCMU', 20)
    talk(new TestVoice('PCMU', 700, 20), 200)
    b.set({ ptime: 10, codec: 'PCMU', payloadType: payloadTypeOf('PCMU') })
    const from = b.sent.length
    talk(new TestVoice('PCMU', 700, 20), 500)
    expect(new Set(b.sent.slice(from).map(({ payload }) => payload.length))).toEqual(new Set([80]))
  })
})
