import { expect, it } from 'vitest'
import { markedNoise } from '../testing/marked-noise.ts'
import { lostPackets, type ReceivedAudio, receivedTrack } from './received-track.ts'

const voice = markedNoise(200)

/** Packets of the voice, one every 20 ms, as they arrive from `atMs` on. */
const packets = (atMs: number, change: Partial<ReceivedAudio> = {}, first = 4_294_967_000): ReceivedAudio[] =>
  Array.from({ length: 10 }, (_, index) => ({
    atMs: atMs + 20 * index,
    ssrc: 7,
    sequence: (65_530 + index) & 0xffff,
    timestamp: (first + 160 * index) >>> 0,
    samples: voice.subarray(160 * index, 160 * index + 160),
    ...change,
  }))

it('places packets by their timestamps, whatever their jitter and order', () => {
  const late = packets(100).map((packet, index) =>
    index % 3 === 1 ? { ...packet, atMs: packet.atMs + 35 } : packet,
  )
  const track = receivedTrack(
    late.toSorted((a, b) => a.atMs - b.atMs),
    400,
  )
  expect(track).toHaveLength(3200)
  expect(track.subarray(800, 2400)).toEqual(voice)
  expect(track.subarray(0, 800).every((sample) => sample === 0)).toBe(true)
})

it('leaves silence for lost packets', () => {
  const some = packets(100).filter((_, index) => index !== 4)
  const track = receivedTrack(some, 400)
  expect(track.subarray(800 + 640, 800 + 800).every((sample) => sample === 0)).toBe(true)
  expect(track.subarray(1600, 2400)).toEqual(voice.subarray(800))
  expect(lostPackets(some)).toBe(1)
})

it('begins anew for another source, and after a jump of the timestamps', () => {
  const other = packets(400, { ssrc: 8 }, 5)
  const jumped = packets(700, { ssrc: 8 }, 900_000_000)
  const track = receivedTrack([...packets(100), ...other, ...jumped], 1000)
  for (const begin of [100, 400, 700]) expect(track.subarray(begin * 8, (begin + 200) * 8)).toEqual(voice)
})

it('cuts sound before the answer and after the end', () => {
  const track = receivedTrack(packets(-50), 100)
  expect(track).toEqual(voice.subarray(400, 1200))
})

it('counts lost packets over the wrap of the sequence numbers, and none of a repeated packet', () => {
  expect(lostPackets(packets(0))).toBe(0)
  expect(lostPackets([...packets(0), packets(0)[9]!])).toBe(0)
  expect(lostPackets([])).toBe(0)
})
