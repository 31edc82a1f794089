import { describe, expect, it } from 'vitest'
import { TestVoice } from '../rtp/testing/codecs.ts'
import { discontinuities, type SentPacket, TestTime } from '../rtp/testing/session-line.ts'
import type { FarEnd } from '../types.ts'
import { ThreadMixer } from './thread-mixer.ts'

const options = { onPlayed: () => {}, onWake: () => {}, onSpeaker: () => {}, onTalking: () => {} }

/** Longest time between two packets, in ms; infinite for fewer than two. */
const longestGap = (sent: readonly SentPacket[]): number =>
  sent.length < 2 ? Number.POSITIVE_INFINITY : Math.max(...sent.slice(1).map(({ at }, i) => at - sent[i]!.at))

/** Two ports in a mixer. */
const setUp = (far: Partial<FarEnd>, isMuted = false) => {
  const time = new TestTime()
  const mixer = new ThreadMixer(options)
  const lines = ['192.0.2.1', '198.51.100.1'].map((address, i) => {
    const line = time.line(address)
    line.set(far)
    mixer.add(i, { canSpeak: !isMuted }, line.session)
    return line
  })
  time.between = () => mixer.mix()
  const pass = async (ms: number, each: () => void = () => {}) => {
    for (let gone = 0; gone < ms; gone += 20) {
      time.pass(20, each)
      // Encoders are made between the turns of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { time, mixer, lines, pass }
}

const formats: readonly (readonly [name: string, far: Partial<FarEnd>, maxGapMs: number])[] = [
  ['Opus', { codec: 'opus' }, 20],
  ['Opus with omitted silence', { codec: 'opus', opus: { dtx: true } }, 400],
  ['Opus of 40 ms', { codec: 'opus', ptime: 40 }, 40],
  ['PCMU', { codec: 'PCMU' }, 20],
  ['G722', { codec: 'G722' }, 20],
]

describe.each(formats)('a mixer without voices sends %s', (_, far, maxGapMs) => {
  it('from the moment of joining, without pause', async () => {
    const { time, lines, pass } = setUp(far)
    const joined = time.now
    await pass(10_000)
    for (const { sent } of lines) {
      expect(sent[0]!.at - joined).toBeLessThanOrEqual(40)
      expect(longestGap(sent)).toBeLessThanOrEqual(maxGapMs)
      expect(discontinuities(sent)).toEqual([])
    }
  })

  it('while all are muted and talk', async () => {
    const { lines, pass } = setUp(far, true)
    const voice = new TestVoice(far.codec!, 440)
    await pass(10_000, () => lines[0]!.say(voice))
    for (const { sent } of lines) expect(longestGap(sent)).toBeLessThanOrEqual(maxGapMs)
  })

  it('before, during and after words of one of them', async () => {
    const { lines, pass } = setUp(far)
    const voice = new TestVoice(far.codec!, 440)
    for (let i = 0; i < 3; i++) {
      await pass(3000)
      await pass(1000, () => lines[0]!.say(voice))
    }
    await pass(5000)
    for (const { sent } of lines) {
      expect(longestGap(sent)).toBeLessThanOrEqual(maxGapMs)
      expect(discontinuities(sent)).toEqual([])
    }
  })

  it('to a port that does not hear the others', async () => {
    const { mixer, lines, pass } = setUp(far)
    mixer.change(1, { canHear: false })
    const voice = new TestVoice(far.codec!, 440)
    await pass(5000, () => lines[0]!.say(voice))
    expect(longestGap(lines[1]!.sent)).toBeLessThanOrEqual(maxGapMs)
  })
})

describe('a far end with comfort noise', () => {
  it('gets that in place of silence, and voices without a gap', async () => {
    const { lines, pass } = setUp({ comfortNoise: 13 })
    const voice = new TestVoice('PCMU', 440)
    await pass(3000)
    expect(lines[1]!.sent.some(({ payloadType }) => payloadType === 13)).toBe(true)
    expect(longestGap(lines[1]!.sent)).toBeLessThanOrEqual(1000)
    lines[1]!.sent.length = 0
    await pass(1000, () => lines[0]!.say(voice))
    await pass(3000)
    const { sent } = lines[1]!
    expect(sent.filter(({ payloadType }) => payloadType === 0).length).toBeGreaterThan(45)
    expect(discontinuities(sent)).toEqual([])
    // The timestamps follow the time over the silence.
    const units = (sent.at(-1)!.timestamp - sent[0]!.timestamp) >>> 0
    expect(Math.abs(units / 8 - (sent.at(-1)!.at - sent[0]!.at))).toBeLessThanOrEqual(40)
  })
})
