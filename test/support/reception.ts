import { codecInfo } from '../../media/codecs/codec-info.ts'
import { rateOf, testCodecs } from '../../media/rtp/testing/codecs.ts'
import type { AudioCodec } from '../../media/types.ts'
import type { Sound } from './swinging-tone.ts'

/** Received packet. */
export interface Arrival {
  /** Milliseconds of the monotonic clock. */
  readonly at: number
  readonly sequence: number
  readonly timestamp: number
  readonly payloadType: number
  readonly payload: Uint8Array
}

/** Sound of packets at a receiver with an unlimited jitter buffer. */
export interface Reception {
  /** Decoded sound. The codec conceals missing packets. */
  readonly sound: Sound
  readonly packets: number
  /** Missing sequence numbers. */
  readonly missing: number
  /** Growth of the delay from the first packets to the last, in ms. */
  readonly drift: number
}

/** Number of packets at each end for the measurement of the drift; most of them are on time. */
const edgePackets = 100

const order = (arrivals: readonly Arrival[]): Arrival[] => {
  const first = arrivals[0]?.sequence ?? 0
  const place = ({ sequence }: Arrival): number => ((sequence - first + 0x8000) & 0xffff) - 0x8000
  return arrivals.toSorted((a, b) => place(a) - place(b))
}

/** Puts packets of one codec in order and decodes them. */
export const received = (codec: AudioCodec, arrivals: readonly Arrival[]): Reception => {
  const packets = order(arrivals)
  const rate = rateOf(codec)
  const decoder = testCodecs.decoder(codec, rate)
  const out = new Int16Array(rate)
  const parts: Int16Array[] = []
  let missing = 0
  let length = 0
  packets.forEach(({ sequence, payload }, index) => {
    const before = packets[index - 1]
    const lost = before ? Math.max(0, ((sequence - before.sequence) & 0xffff) - 1) : 0
    missing += lost
    for (let left = lost; left > 0; left--) {
      const restored = left === 1 && decoder.recover?.(payload, 0, payload.length, length, out)
      if (!restored) decoder.conceal(length, out)
      parts.push(out.slice(0, length))
    }
    length = decoder.decode(payload, 0, payload.length, out)
    parts.push(out.slice(0, length))
  })
  decoder.close()
  const samples = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
  parts.reduce((at, part) => {
    samples.set(part, at)
    return at + part.length
  }, 0)
  return { sound: { samples, rate }, packets: packets.length, missing, drift: driftOf(codec, packets) }
}

const driftOf = (codec: AudioCodec, packets: readonly Arrival[]): number => {
  const { clockRate } = codecInfo[codec]
  const first = packets[0]?.timestamp ?? 0
  const behind = packets.map(({ at, timestamp }) => at - (((timestamp - first) | 0) * 1000) / clockRate)
  const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity)
  return least(behind.slice(-edgePackets)) - least(behind.slice(0, edgePackets))
}
