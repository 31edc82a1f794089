import { beforeEach, describe, expect, it } from 'vitest'
import { silenceByte } from '../codecs/g711.ts'
import { sine } from '../codecs/tone.ts'
import { TestVoice } from './testing/codecs.ts'
import { discontinuities, type TestLine, TestTime } from './testing/session-line.ts'

describe('during silence', () => {
  let time: TestTime
  let a: TestLine
  let b: TestLine

  beforeEach(() => {
    time = new TestTime()
    a = time.line('192.0.2.1')
    b = time.line('198.51.100.1')
  })

  it('comfort noise is sent soon, and then each second, to far ends that support it', () => {
    b.set({ comfortNoise: 13 })
    time.pass(3400)
    const noise = b.sent.filter(({ payloadType }) => payloadType === 13)
    expect(noise.map(({ at }) => at - b.sent[2]!.at)).toEqual([200, 1200, 2200, 3200])
    expect(noise.every(({ payload, marker }) => payload.length === 1 && payload[0] === 70 && !marker)).toBe(
      true,
    )
    expect(discontinuities(b.sent)).toEqual([])
    b.session.promptMixer.play(1, sine(440, 200), 8000, 1, 0)
    time.pass(100)
    const talk = b.sent.findLast(({ payloadType, marker }) => payloadType === 0 && marker)
    expect(talk).toBeDefined()
  })

  it.each([
    ['PCMU', (payload: Buffer) => payload.every((byte) => byte === silenceByte.PCMU)],
    ['PCMA', (payload: Buffer) => payload.every((byte) => byte === silenceByte.PCMA)],
    ['L16', (payload: Buffer) => payload.every((byte) => byte === 0)],
    ['opus', (payload: Buffer) => payload.equals(Buffer.of(0xf8, 0xff, 0xfe))],
  ] as const)('one packet of %s is sent each 5 s to far ends without comfort noise', (codec, isSilence) => {
    b.set({ codec, opus: { dtx: true } })
    time.pass(200)
    b.sent.length = 0
    time.pass(60_000)
    expect(b.sent).toHaveLength(12)
    expect(b.sent.every(({ payload, marker }) => isSilence(payload) && !marker)).toBe(true)
    expect(discontinuities(b.sent)).toEqual([])
  })

  it('nothing is sent if the direction forbids it', () => {
    b.set({ comfortNoise: 13 })
    time.pass(200)
    b.set({ comfortNoise: 13, direction: 'recvonly' })
    b.sent.length = 0
    time.pass(60_000)
    expect(b.sent).toEqual([])
  })

  it('comfort noise of the partner is forwarded, or omitted', () => {
    a.set()
    b.set({ comfortNoise: 99 })
    time.pass(200)
    a.session.join(b.session)
    b.sent.length = 0
    a.hear()
    time.pass(20)
    a.hear(Buffer.of(52), { payloadType: 13 })
    time.pass(80)
    a.hear()
    expect(b.sent.map(({ payloadType, payload }) => [payloadType, payload.length])).toEqual([
      [0, 160],
      [99, 1],
      [0, 160],
    ])
    expect(discontinuities(b.sent)).toEqual([])
    b.set()
    b.sent.length = 0
    a.hear(Buffer.of(52), { payloadType: 13 })
    a.hear()
    a.hear(Buffer.of(52), { payloadType: 13 })
    a.hear()
    expect(b.sent.map(({ payloadType }) => payloadType)).toEqual([0, 0])
    expect(discontinuities(b.sent)).toEqual([])
  })

  it('comfort noise of several far ends is different, so that it does not add up in a mixer', () => {
    const noises = [a, time.line('203.0.113.1', 0xbeef), time.line('203.0.113.2', 0xbef0)].map((line) => {
      const noise: number[] = []
      line.set()
      line.session.addSink({ rate: 8000, tracks: 'in', write: (input) => noise.push(...(input ?? [])) })
      line.hear()
      time.pass(20)
      line.hear(Buffer.of(40), { payloadType: 13 })
      time.pass(200)
      noise.length = 0
      time.pass(2000)
      expect(noise).toHaveLength(16_000)
      return noise.slice()
    })
    const product = (x: readonly number[], y: readonly number[]) =>
      x.reduce((sum, sample, i) => sum + sample * y[i]!, 0)
    const [first, second, third] = noises as [number[], number[], number[]]
    for (const [x, y] of [
      [first, second],
      [second, third],
    ] as const)
      expect(Math.abs(product(x, y)) / Math.sqrt(product(x, x) * product(y, y))).toBeLessThan(0.05)
  })

  it('a silent partner of another codec is followed by a second of silence only', () => {
    a.set({ codec: 'L16' })
    b.set()
    a.session.join(b.session)
    const voice = new TestVoice('L16', 700)
    time.pass(1000, () => a.say(voice))
    b.sent.length = 0
    time.pass(20_000)
    // The rest of the jitter buffer with concealment, the silence, and the keep-alive.
    expect(b.sent.length).toBeLessThan(50 + 110 + 5)
    expect(discontinuities(b.sent)).toEqual([])
    time.pass(200, () => a.say(voice))
    expect(b.sent.at(-1)!.payload.every((byte) => byte === silenceByte.PCMU)).toBe(false)
  })

  it('an encoder with DTX omits packets, and the timestamps advance', () => {
    b.set({ codec: 'opus', opus: { dtx: true } })
    time.pass(200)
    b.sent.length = 0
    b.session.promptMixer.play(1, new Int16Array(16_000 * 10), 16_000, 1, 0)
    time.pass(10_000)
    b.session.promptMixer.play(2, sine(440, 1000), 8000, 1, 0)
    const before = b.sent.length
    expect(before).toBeLessThan(150)
    time.pass(1000)
    expect(b.sent.length - before).toBeGreaterThan(45)
    expect(discontinuities(b.sent)).toEqual([])
    const first = b.sent[0]!
    const last = b.sent.at(-1)!
    expect(
      Math.abs(((last.timestamp - first.timestamp) | 0) / 48 - (last.at - first.at)),
    ).toBeLessThanOrEqual(20)
  })
})
