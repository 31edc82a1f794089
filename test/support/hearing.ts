import { decode } from '../../media/codecs/g711.ts'
import { dominant, goertzel } from '../../media/codecs/tone.ts'
import { type Packet, payloadTypes } from './rtp-peer.ts'

const isAudio = ({ payloadType }: Packet): boolean =>
  payloadType === payloadTypes.PCMU || payloadType === payloadTypes.PCMA

const forward16 = (from: number, to: number): number => (to - from) & 0xffff

/** Samples of audio packets in the order of their timestamps, with zeros for missing packets. */
export const samplesOf = (packets: readonly Packet[]): Int16Array => {
  const audio = packets.filter(isAudio)
  const first = audio[0]?.timestamp ?? 0
  const at = (packet: Packet): number => (packet.timestamp - first) | 0
  const length = audio.reduce((end, packet) => Math.max(end, at(packet) + packet.payload.length), 0)
  const samples = new Int16Array(Math.min(length, 8000 * 120))
  for (const packet of audio) {
    const offset = at(packet)
    if (offset < 0 || offset + packet.payload.length > samples.length) continue
    samples.set(decode(packet.payloadType === payloadTypes.PCMU ? 'PCMU' : 'PCMA', packet.payload), offset)
  }
  return samples
}

const levelOf = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length))

const windowsOf = (packets: readonly Packet[], ms: number): Int16Array[] => {
  const samples = samplesOf(packets)
  const size = ms * 8
  return Array.from({ length: Math.floor(samples.length / size) }, (_, index) =>
    samples.subarray(index * size, (index + 1) * size),
  )
}

/** Level below which a window counts as silence. */
const silence = 100

/** Levels of consecutive windows of `ms`: root mean square of samples up to 32767. */
export const levels = (packets: readonly Packet[], ms = 50): number[] => windowsOf(packets, ms).map(levelOf)

/**
 * Share of the power at this frequency in consecutive windows of `ms`; 0 for silence. Cheap enough for the
 * thread that receives packets and records their arrival times.
 */
export const shares = (packets: readonly Packet[], frequency: number, ms = 100): number[] =>
  windowsOf(packets, ms).map((window) => (levelOf(window) < silence ? 0 : goertzel(window, frequency)))

/**
 * Received frequencies among the given ones, in order. A tone counts again only after another tone. A tone
 * shorter than 100 ms does not count.
 */
export const tonesOf = (packets: readonly Packet[], frequencies: readonly number[]): number[] => {
  const heard: number[] = []
  let before = 0
  for (const window of windowsOf(packets, 50)) {
    const loud = levelOf(window) >= silence
    const tone = (loud && frequencies.find((frequency) => goertzel(window, frequency) > 0.8)) || 0
    if (tone !== 0 && tone === before && tone !== heard.at(-1)) heard.push(tone)
    before = tone
  }
  return heard
}

/** Strongest frequency of the last `ms`, in Hz; 0 for silence. Slow, since it tries all frequencies. */
export const lastTone = (packets: readonly Packet[], ms = 200): number => {
  const samples = samplesOf(packets.slice(-Math.ceil(ms / 20)))
  return levelOf(samples) < silence ? 0 : dominant(samples)
}

/**
 * Those of the given frequencies that sound together in the last 300 ms: each at most 20 dB below the
 * strongest of them.
 */
export const tonesTogether = (packets: readonly Packet[], frequencies: readonly number[]): number[] => {
  const samples = samplesOf(packets.slice(-15))
  if (samples.length < 2000 || levelOf(samples) < silence) return []
  const found = frequencies.map((frequency) => goertzel(samples, frequency))
  const least = Math.max(...found, 0.1) / 100
  return frequencies.filter((_, at) => found[at]! > least)
}

/** Digits that arrived as RFC 4733 events; packets with the same timestamp are one digit. */
export const digitsOf = (packets: readonly Packet[]): string => {
  const events = new Map<number, string>()
  for (const { payloadType, timestamp, payload } of packets) {
    if (payloadType === payloadTypes.events) events.set(timestamp, '0123456789*#ABCD'[payload[0] ?? 0] ?? '?')
  }
  return [...events.values()].join('')
}

/**
 * Faults that would disturb a carrier's equipment: a second source, jumps of the sequence numbers, and
 * timestamps that go back or drift off the clock. A gap of more than 500 ms is a fault; a busy machine causes
 * shorter ones. Empty for one continuous stream.
 */
export const faultsOf = (packets: readonly Packet[]): string[] => {
  const faults: string[] = []
  const first = packets[0]
  if (!first) return ['no packet at all']
  packets.forEach((packet, index) => {
    const before = packets[index - 1]
    if (!before) return
    const where = `packet ${index}`
    if (packet.ssrc !== first.ssrc) faults.push(`${where} has another SSRC`)
    if (forward16(before.sequence, packet.sequence) !== 1)
      faults.push(`${where}: ${before.sequence} then ${packet.sequence}`)
    if (((packet.timestamp - before.timestamp) | 0) < 0) faults.push(`${where}: the timestamp went back`)
    if (packet.at - before.at > 500)
      faults.push(`${where}: ${Math.round(packet.at - before.at)} ms without a packet`)
    const drift = ((packet.timestamp - first.timestamp) >>> 0) / 8 - (packet.at - first.at)
    // An event's packets keep the timestamp of its start.
    if (isAudio(packet) && Math.abs(drift) > 500)
      faults.push(`${where}: the timestamp is ${Math.round(drift)} ms off`)
  })
  return faults
}

/** Packets from the first audible one on. A sender may leave out silence before it. */
export const fromFirstSound = (packets: readonly Packet[]): Packet[] => {
  const first = packets.findIndex((packet) => isAudio(packet) && levelOf(samplesOf([packet])) > 300)
  return first < 0 ? [] : packets.slice(first)
}

/**
 * Number of clicks in a pure tone: places that differ from a sine of this frequency by more than `tolerance`
 * of its amplitude. A pure tone satisfies x[n+1] = 2 cos(w) x[n] - x[n-1].
 */
export const clicksIn = (samples: Int16Array, frequency: number, tolerance = 0.35): number => {
  const factor = 2 * Math.cos((2 * Math.PI * frequency) / 8000)
  const amplitude = levelOf(samples) * Math.SQRT2
  let clicks = 0
  for (let i = 1; i + 1 < samples.length; i++) {
    const expected = factor * samples[i]! - samples[i - 1]!
    if (Math.abs(samples[i + 1]! - expected) > tolerance * amplitude) {
      clicks++
      i += 8
    }
  }
  return clicks
}
