import { timestampAhead } from '../../rtp/packet.ts'
import type { PacketSource } from './feed.ts'

/** Number of changes that are remembered: frames are at most a few behind their packets. */
const maxRuns = 16

/** Origin of a frame. */
export interface FrameOrigin {
  /** Source of the frame; undefined for the plain picture. */
  readonly source: PacketSource | undefined
  /** Timestamp of the frame in its source. */
  readonly timestamp: number
}

/** Packets of one source, whose timestamps differ by the same amount. */
interface Run {
  readonly source: PacketSource | undefined
  /** First timestamp of the run in the stream. */
  readonly from: number
  /** Timestamp in the source minus that in the stream. */
  readonly shift: number
}

/** Sources of the frames of one stream, with the timestamps that they had there. */
export class FrameOrigins {
  #runs: readonly Run[] = []

  /** Remembers a packet that the stream has with `timestamp`. */
  add(timestamp: number, source: PacketSource | undefined, sourceTimestamp: number): void {
    const shift = (sourceTimestamp - timestamp) | 0
    const last = this.#runs.at(-1)
    if (last?.source === source && last?.shift === shift) return
    this.#runs = [...this.#runs.slice(1 - maxRuns), { source, from: timestamp, shift }]
  }

  /** Returns the origin of a frame. Frames come in their order. */
  of(timestamp: number): FrameOrigin {
    const index = this.#runs.findLastIndex(({ from }) => timestampAhead(timestamp, from) >= 0)
    const run = this.#runs[index]
    if (index > 0) this.#runs = this.#runs.slice(index)
    return { source: run?.source, timestamp: (timestamp + (run?.shift ?? 0)) >>> 0 }
  }
}
