import { timestampAhead } from '../../../media/rtp/packet.ts'
import { rate } from '../scores/activity.ts'

/** Audio of one received packet. */
export interface ReceivedAudio {
  /** Arrival, in ms from the answer. */
  readonly atMs: number
  readonly ssrc: number
  readonly sequence: number
  /** RTP timestamp, in samples at 8 kHz. */
  readonly timestamp: number
  readonly samples: Int16Array
}

/** Gap between the timestamps of two packets beyond which they belong to different streams, in samples. */
const maxJump = 60 * rate

/** Packets of one stream, with their places in samples from its first packet. */
interface Stream {
  readonly ssrc: number
  readonly parts: { readonly place: number; readonly audio: ReceivedAudio }[]
}

/**
 * Returns the agent's side of a call as samples at 8 kHz from its answer. RTP timestamps give the place of
 * each packet, and the fastest packet of a stream that of the stream. So jitter moves nothing. Lost packets
 * are silence.
 */
export const receivedTrack = (packets: readonly ReceivedAudio[], durationMs: number): Int16Array => {
  const track = new Int16Array(Math.max(0, Math.round((durationMs * rate) / 1000)))
  for (const { parts } of streamsOf(packets)) {
    const delays = parts.map(({ place, audio }) => audio.atMs - (place * 1000) / rate)
    const begin = Math.round((delays.reduce((least, each) => Math.min(least, each)) * rate) / 1000)
    for (const { place, audio } of parts) {
      const at = begin + place
      const { samples } = audio
      if (at + samples.length > 0 && at < track.length)
        track.set(samples.subarray(Math.max(0, -at), track.length - at), Math.max(0, at))
    }
  }
  return track
}

/** Returns the packets by streams: a new source or a jump of the timestamps begins another one. */
const streamsOf = (packets: readonly ReceivedAudio[]): readonly Stream[] => {
  const streams: Stream[] = []
  for (const audio of packets) {
    const stream = streams.at(-1)
    const last = stream?.parts.at(-1)
    const ahead = last ? timestampAhead(audio.timestamp, last.audio.timestamp) : 0
    if (stream && last && stream.ssrc === audio.ssrc && Math.abs(ahead) <= maxJump)
      stream.parts.push({ place: last.place + ahead, audio })
    else streams.push({ ssrc: audio.ssrc, parts: [{ place: 0, audio }] })
  }
  return streams
}

/** Returns the number of packets that did not arrive, by the sequence numbers. */
export const lostPackets = (packets: readonly ReceivedAudio[]): number => {
  const seen = new Map<number, { first: number; last: number; count: number }>()
  for (const { ssrc, sequence } of packets) {
    const known = seen.get(ssrc)
    if (!known) {
      seen.set(ssrc, { first: sequence, last: sequence, count: 1 })
      continue
    }
    known.count++
    const ahead = ((sequence - known.last) << 16) >> 16
    if (ahead > 0) known.last += ahead
  }
  return [...seen.values()].reduce(
    (sum, { first, last, count }) => sum + Math.max(0, last - first + 1 - count),
    0,
  )
}
