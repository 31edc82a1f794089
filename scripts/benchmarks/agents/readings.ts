/** Readings of received packets: levels, gaps and positions. They use arrival times and samples alone. */

/** Received packet of the agent. */
export interface HeardPacket {
  /** Time of the arrival in ms of the monotonic clock. */
  readonly at: number
  /** Media time in ms. */
  readonly ms: number
  readonly sequence: number
  /** Level in dBov. */
  readonly db: number
  readonly samples: Int16Array
}

const packetMs = 20
/** Samples of a packet, and of the parts whose level decides whether they were heard. */
const packetSamples = 160
const partSamples = 40
const partMs = 5
/** Level in dBov below which a packet has no sound of an agent. */
export const silentDb = -55
/** Least similarity of a packet with the part of the source that it carries. */
const minSimilarity = 0.5

/** Returns the first packet with sound that arrived at `since` or later. */
export const firstLoud = (
  packets: readonly HeardPacket[],
  since: number,
  thresholdDb = silentDb,
): HeardPacket | undefined => packets.find(({ at, db }) => at >= since && db > thresholdDb)

/** Returns the last packet with sound that arrived before `until`. */
export const lastLoud = (packets: readonly HeardPacket[], until: number): HeardPacket | undefined =>
  packets.findLast(({ at, db }) => at < until && db > silentDb)

/** Returns the median level in dBov of the packets that arrived within a time. */
export const levelWithin = (packets: readonly HeardPacket[], from: number, to: number): number => {
  const levels = packets.filter(({ at }) => at >= from && at < to).map(({ db }) => db)
  return levels.sort((a, b) => a - b)[levels.length >> 1] ?? Number.NaN
}

/** Returns the arrival of the first packet since a time whose level is at most a value, in dBov. */
export const quieterAt = (packets: readonly HeardPacket[], since: number, db: number): number | undefined =>
  packets.find((packet) => packet.at >= since && packet.db <= db)?.at

/** Returns the longest time without a louder packet, in ms, between two times. */
export const longestSilence = (
  packets: readonly HeardPacket[],
  from: number,
  to: number,
  db = silentDb,
): number => {
  let longest = 0
  let run = 0
  for (const packet of packets) {
    if (packet.at < from || packet.at >= to) continue
    run = packet.db > db ? 0 : run + packetMs
    longest = Math.max(longest, run)
  }
  return longest
}

/** Returns the longest time in ms between two arrivals. */
export const longestGap = (packets: readonly HeardPacket[]): number =>
  packets.reduce((longest, { at }, index) => Math.max(longest, at - (packets[index - 1]?.at ?? at)), 0)

/** Returns the dot product of samples, and the energy of the part of the source that they lie over. */
const product = (samples: Int16Array, source: Int16Array, at: number): readonly [number, number, number] => {
  let both = 0
  let own = 0
  let theirs = 0
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]!
    const original = source[at + i] ?? 0
    both += sample * original
    own += sample * sample
    theirs += original * original
  }
  return [both, own, theirs]
}

const similarity = (samples: Int16Array, source: Int16Array, at: number): number => {
  const [both, own, theirs] = product(samples, source, at)
  return own === 0 || theirs === 0 ? 0 : both / Math.sqrt(own * theirs)
}

/** Returns the sample of the source with which a packet begins; negative if it begins before the source. */
export const positionOf = (samples: Int16Array, source: Int16Array, likely?: number): number | undefined => {
  if (likely !== undefined && similarity(samples, source, likely) >= minSimilarity) return likely
  let best = minSimilarity
  let found: number | undefined
  for (let at = 1 - samples.length; at < source.length; at++) {
    const value = similarity(samples, source, at)
    if (value <= best) continue
    best = value
    found = at
  }
  return found
}

/** Returns the ms of a source that packets carry at half of its amplitude or more, in steps of 5 ms. */
export const heardMs = (packets: readonly HeardPacket[], source: Int16Array): number => {
  let heard = 0
  let next: number | undefined
  for (const { samples, db } of packets) {
    if (db <= silentDb) continue
    const at = positionOf(samples, source, next)
    if (at === undefined) continue
    next = at + packetSamples
    for (let part = 0; part < samples.length; part += partSamples) {
      const [both, , theirs] = product(samples.subarray(part, part + partSamples), source, at + part)
      if (theirs > 0 && both / theirs >= 0.5) heard += partMs
    }
  }
  return heard
}
