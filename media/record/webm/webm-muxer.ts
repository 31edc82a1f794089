import { element, Id, idBytes, sizeBytes, uint } from './ebml.ts'
import { segmentStart, TrackNumber, type WebmFacts, webmHeader } from './webm-header.ts'

/**
 * Maximum time in one cluster, in ms. After a crash about a second is missing. A recording has its first key
 * frame in the file within a second.
 */
const maxClusterMs = 700
/** Maximum length of the blocks of one cluster, in bytes. */
const maxClusterBytes = 4_000_000
/** Minimum distance of two cues, in ms. */
export const minCueMs = 2000
/** Duration of an Opus packet, which the last one adds to the file, in ms. */
export const packetMs = 20

/** Position for seeking: a time, and the offset of its cluster. */
export interface Cue {
  readonly atMs: number
  readonly track: number
  readonly clusterAt: number
}

interface Block {
  readonly track: number
  readonly atMs: number
  readonly isKey: boolean
  readonly data: Uint8Array
}

/** Receiver of the bytes of a {@link WebmMuxer}. */
export interface WebmOutput {
  /** Appends bytes: whole clusters. */
  append(bytes: Uint8Array): void
  /** Replaces the first bytes of the file. */
  replaceHeader(bytes: Uint8Array): void
}

/**
 * Writes a WebM file (RFC 9559) with one track of Opus and one of VP8, while both arrive. It is playable
 * at any time up to its last cluster. Completing it adds what a player needs for seeking.
 *
 * Times are ms from the start of the file. They must not decrease within a track; one that does counts as
 * the time of the packet before it. Payloads are kept until their cluster is complete, and must not change.
 */
export class WebmMuxer {
  readonly #output: WebmOutput
  readonly #channels: 1 | 2 | undefined
  #video: { readonly width: number; readonly height: number } | undefined
  #blocks: Block[] = []
  #blockBytes = 0
  #clusterFrom = 0
  /** Time of the latest written cluster. Players stop at a cluster whose time is before it. */
  #writtenFrom = 0
  /** Time of the newest block of each track. */
  readonly #newest = new Map<number, number>()
  #bytes = 0
  #durationMs = 0
  readonly #cues: Cue[] = []
  /** Ends of the clusters, with the duration up to there. */
  readonly #ends: { readonly bytes: number; readonly durationMs: number }[] = []
  #cuesAt: number | undefined
  readonly #isLive: boolean

  /**
   * `channels` of the Opus track; undefined: none. The VP8 track is added with its first frame. `isLive`:
   * whether the bytes are read once, as they come. The muxer then keeps nothing for {@link playable} and for
   * seeking, so it can run for days.
   */
  constructor(channels: 1 | 2 | undefined, output: WebmOutput, isLive = false) {
    this.#channels = channels
    this.#isLive = isLive
    this.#output = output
    this.#append(this.#header())
  }

  /** Bytes written, without the blocks that wait for the end of their cluster. */
  get bytes(): number {
    return this.#bytes
  }

  /** Time up to which the written clusters last, in ms. */
  get durationMs(): number {
    return this.#durationMs
  }

  /** Adds a packet of Opus. */
  addAudio(atMs: number, packet: Uint8Array): void {
    this.#add({ track: TrackNumber.audio, atMs, isKey: true, data: packet })
  }

  /** Adds a frame of VP8. The first one must be a key frame. `size` of the picture, of a key frame. */
  addVideo(
    atMs: number,
    frame: Uint8Array,
    size?: { readonly width: number; readonly height: number },
  ): void {
    if (!this.#video) {
      if (!size) return
      this.#video = size
      this.#output.replaceHeader(this.#header())
    }
    if (size && this.#blocks.length > 0) this.flush()
    this.#add({ track: TrackNumber.video, atMs, isKey: size !== undefined, data: frame })
  }

  /** Ends the cluster if it has lasted long enough at this time. */
  tick(atMs: number): void {
    if (this.#blocks.length > 0 && atMs - this.#clusterFrom >= maxClusterMs) this.flush()
  }

  /** Ends the cluster. */
  flush(): void {
    const blocks = this.#blocks
    if (blocks.length === 0) return
    this.#blocks = []
    this.#blockBytes = 0
    blocks.sort((a, b) => a.atMs - b.atMs)
    const from = blocks[0]!.atMs
    this.#writtenFrom = from
    if (!this.#isLive) this.#cue(blocks)
    for (const { track, atMs } of blocks)
      this.#durationMs = Math.max(this.#durationMs, atMs + (track === TrackNumber.audio ? packetMs : 0))
    const content = blocks.flatMap((block) => blockParts(block, from))
    this.#append(element(Id.cluster, uint(Id.timestamp, from), ...content))
    if (!this.#isLive) this.#ends.push({ bytes: this.#bytes, durationMs: this.#durationMs })
  }

  /** Ends the last cluster, and appends the cues. Nothing can be added afterwards. */
  finish(): void {
    this.flush()
    if (this.#cues.length === 0) return
    this.#cuesAt = this.#bytes
    this.#append(cuesElement(this.#cues))
  }

  /** Returns the longest playable length within `bytes` bytes; 0 without a cluster. */
  playable(bytes: number): number {
    if (bytes >= this.#bytes && this.#ends.length > 0) return this.#bytes
    return this.#ends.findLast((end) => end.bytes <= bytes)?.bytes ?? 0
  }

  /** Returns the duration of a file of a {@link playable} length, in ms. */
  durationOf(bytes: number): number {
    return this.#ends.findLast((end) => end.bytes <= bytes)?.durationMs ?? 0
  }

  /** Returns the header of a complete file of a {@link playable} length. */
  header(bytes: number): Buffer {
    const cuesAt = bytes === this.#bytes ? this.#cuesAt : undefined
    return this.#header({
      durationMs: this.durationOf(bytes),
      bytes,
      ...(cuesAt !== undefined && { cuesAt }),
    })
  }

  #header(end?: WebmFacts['end']): Buffer {
    return webmHeader({
      ...(this.#channels && { audio: this.#channels }),
      ...(this.#video && { video: this.#video }),
      ...(end && { end }),
    })
  }

  #add(block: Block): void {
    // The times within a cluster have 16 bits.
    const floor = (this.#blocks.length > 0 ? this.#clusterFrom : this.#durationMs) - maxClusterMs
    const newest = this.#newest.get(block.track) ?? 0
    const atMs = Math.max(Math.round(block.atMs), newest, floor, this.#writtenFrom)
    this.tick(atMs)
    if (this.#blocks.length === 0) this.#clusterFrom = atMs
    this.#newest.set(block.track, atMs)
    this.#blocks.push({ ...block, atMs })
    this.#blockBytes += block.data.length
    if (this.#blockBytes > maxClusterBytes) this.flush()
  }

  /** Remembers the cluster that follows, if it starts a place to seek to. */
  #cue(blocks: readonly Block[]): void {
    const track = this.#video ? TrackNumber.video : TrackNumber.audio
    const block = blocks.find((each) => each.track === track && each.isKey)
    const last = this.#cues.at(-1)
    if (!block || (last && last.track === track && block.atMs - last.atMs < minCueMs)) return
    this.#cues.push({ atMs: block.atMs, track, clusterAt: this.#bytes })
  }

  #append(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    this.#output.append(bytes)
  }
}

/** Returns the element with the cues. */
export const cuesElement = (cues: readonly Cue[]): Buffer =>
  element(
    Id.cues,
    ...cues.map(({ atMs, track, clusterAt }) =>
      element(
        Id.cuePoint,
        uint(Id.cueTime, atMs),
        element(
          Id.cueTrackPositions,
          uint(Id.cueTrack, track),
          uint(Id.cueClusterPosition, clusterAt - segmentStart),
        ),
      ),
    ),
  )

/** Returns the parts of a block: its head, and its data. */
const blockParts = ({ track, atMs, isKey, data }: Block, from: number): readonly Uint8Array[] => {
  const head = Buffer.alloc(4)
  head[0] = 0x80 | track
  head.writeInt16BE(atMs - from, 1)
  head[3] = isKey ? 0x80 : 0
  return [idBytes(Id.simpleBlock), sizeBytes(head.length + data.length), head, data]
}
