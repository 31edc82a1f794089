import { expect, it } from 'vitest'
import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import { decode, encode } from '../../../media/codecs/g711.ts'
import { levelDb } from '../../../media/rtp/voice-activity.ts'
import {
  firstLoud,
  type HeardPacket,
  heardMs,
  lastLoud,
  levelWithin,
  longestGap,
  longestSilence,
  positionOf,
  quieterAt,
} from './readings.ts'
import { click, isLoud, trimmed } from './signals.ts'

/** Packets of a signal as a telephone gets them, one every 20 ms from `at` on. */
const packetsOf = (signal: Int16Array, at = 0): HeardPacket[] =>
  Array.from({ length: Math.ceil(signal.length / 160) }, (_, index) => {
    const frame = new Int16Array(160)
    frame.set(signal.subarray(index * 160, index * 160 + 160))
    const samples = decode('PCMU', encode('PCMU', frame))
    return { at: at + index * 20, ms: index * 20, sequence: index, db: levelDb(samples), samples }
  })

const joined = (...parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from(parts.flatMap((part) => [...part]))

it('finds the begin and the end of sound', () => {
  const packets = packetsOf(joined(new Int16Array(320), markedNoise(100), new Int16Array(320)))
  expect(firstLoud(packets, 0)?.at).toBe(40)
  expect(firstLoud(packets, 70)?.at).toBe(80)
  expect(lastLoud(packets, 1000)?.at).toBe(120)
  expect(lastLoud(packets, 30)).toBeUndefined()
})

it('finds a level that has fallen by 20 dB', () => {
  const noise = markedNoise(200)
  const packets = packetsOf(noise.map((sample, at) => (at < 800 ? sample : sample / 20)))
  const level = levelWithin(packets, 0, 100)
  expect(level).toBeCloseTo(-20, 0)
  expect(quieterAt(packets, 0, level - 20)).toBe(100)
  expect(quieterAt(packets, 0, level - 40)).toBeUndefined()
})

it('measures silences and gaps', () => {
  const packets = packetsOf(joined(markedNoise(60), new Int16Array(480), markedNoise(60)))
  expect(longestSilence(packets, 0, 1000)).toBe(60)
  expect(longestSilence(packets, 0, 80)).toBe(20)
  expect(longestGap(packets)).toBe(20)
  expect(longestGap(packets.filter(({ sequence }) => sequence !== 4))).toBe(40)
})

it('finds the position of any packet in the source, by its samples', () => {
  const source = markedNoise(400)
  expect(positionOf(source.slice(1234, 1394), source)).toBe(1234)
  expect(positionOf(joined(new Int16Array(100), source.slice(0, 60)), source)).toBe(-100)
  expect(positionOf(markedNoise(20, 99), source)).toBeUndefined()
})

it.each([0, 37, 159])('counts what was heard up to a fade, %i samples beside the packets', (shift) => {
  const source = markedNoise(1000)
  const heard = source.map((sample, at) =>
    at < 4000 ? sample : at < 4160 ? sample * ((4160 - at) / 160) : 0,
  )
  const ms = heardMs(packetsOf(joined(new Int16Array(shift), heard)), source)
  expect(Math.abs(ms - 510)).toBeLessThanOrEqual(5)
})

it('counts nothing of silence and of other sounds', () => {
  expect(heardMs(packetsOf(new Int16Array(1600)), markedNoise(200))).toBe(0)
  expect(heardMs(packetsOf(markedNoise(100, 7)), markedNoise(200))).toBe(0)
})

it('trims speech to whole packets that begin and end with sound', () => {
  const speech = trimmed(joined(new Int16Array(500), markedNoise(50), new Int16Array(500)))
  expect(speech.length % 160).toBe(0)
  expect(isLoud(speech.subarray(0, 1))).toBe(true)
  expect(isLoud(speech.subarray(-160))).toBe(true)
  expect(trimmed(new Int16Array(320))).toHaveLength(0)
})

it('makes a click of the promised length', () => {
  expect(click()).toHaveLength(32)
})
