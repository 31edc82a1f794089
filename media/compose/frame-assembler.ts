import { readVp8, vp8View } from '../rooms/vp8-descriptor.ts'
import { readRtp, rtpView, sequenceAhead } from '../rtp/packet.ts'
import { maxFrameBytes } from './pictures.ts'

/** Maximum wait for a missing packet, in ms. */
const maxReorderMs = 80
/** Packets ahead of the next one that are kept; a packet beyond belongs to another position of the source. */
const maxAhead = 512
/** Maximum number of packets of one frame. */
const maxParts = 2048

/** Packet that waits for its turn. */
interface Fragment {
  readonly timestamp: number
  readonly isMarked: boolean
  /** Copy of the payload, because received packets are lent. */
  readonly payload: Buffer
}

/** Collaborators of a {@link FrameAssembler}. */
export interface FrameAssemblerOptions {
  readonly ssrc: number
  readonly payloadType: number
  /**
   * Called for each frame in its order, with its RTP timestamp. The first one, and the first one after a
   * loss, is a key frame.
   */
  readonly onFrame: (frame: Buffer, now: number, timestamp: number) => void
  /** Called while frames are lost until the next key frame; repeated for each packet. */
  readonly onKeyNeeded: (now: number) => void
}

/** Orders the RTP packets of one VP8 stream, and puts its frames together. */
export class FrameAssembler {
  readonly #options: FrameAssemblerOptions
  readonly #view = rtpView()
  readonly #vp8 = vp8View()
  readonly #waiting = new Map<number, Fragment>()
  /** Sequence number of the packet that is processed next. */
  #next: number | undefined
  /** Number after the last packet at a distant position. */
  #stray: number | undefined
  #gapSince: number | undefined
  #parts: Buffer[] = []
  #bytes = 0
  #timestamp = 0
  #needsKey = true

  constructor(options: FrameAssemblerOptions) {
    this.#options = options
  }

  /** Number of packets that wait for an earlier one. */
  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Processes a packet, which may be overwritten afterwards. Packets of other streams are ignored. Returns
   * whether it is a new one of the stream with a payload.
   */
  receive(now: number, packet: Buffer): boolean {
    const view = this.#view
    const { ssrc, payloadType } = this.#options
    if (!readRtp(packet, view) || view.ssrc !== ssrc || view.payloadType !== payloadType) return false
    const { sequence, timestamp, marker } = view
    if (!this.#accepts(sequence)) return false
    const payload = Buffer.from(packet.subarray(view.start, view.end))
    this.#waiting.set(sequence, { timestamp, isMarked: marker, payload })
    this.#drain(now)
    this.tick(now)
    if (this.#needsKey) this.#options.onKeyNeeded(now)
    return payload.length > 0
  }

  /** Gives up a missing packet that is overdue. */
  tick(now: number): void {
    if (this.#gapSince === undefined || now - this.#gapSince < maxReorderMs) return
    const next = this.#next!
    const distances = [...this.#waiting.keys()].map((sequence) => sequenceAhead(sequence, next))
    this.#next = (next + Math.min(...distances)) & 0xffff
    this.lose()
    this.#drain(now)
    if (this.#needsKey) this.#options.onKeyNeeded(now)
  }

  /** Drops everything until the next key frame, for example after a frame that cannot be decoded. */
  lose(): void {
    this.#needsKey = true
    this.#drop()
  }

  #accepts(sequence: number): boolean {
    this.#next ??= sequence
    const ahead = sequenceAhead(sequence, this.#next)
    if (ahead >= 0 && ahead < maxAhead) return !this.#waiting.has(sequence)
    if (ahead < 0 && ahead > -maxAhead) return false
    // Two packets in a row prove that the source continues elsewhere (RFC 3550 appendix A.1).
    const isProven = sequence === this.#stray
    this.#stray = isProven ? undefined : (sequence + 1) & 0xffff
    if (!isProven) return false
    this.#waiting.clear()
    this.#gapSince = undefined
    this.#next = sequence
    this.lose()
    return true
  }

  #drain(now: number): void {
    const before = this.#next
    for (;;) {
      const fragment = this.#waiting.get(this.#next!)
      if (!fragment) break
      this.#waiting.delete(this.#next!)
      this.#next = (this.#next! + 1) & 0xffff
      if (!this.#take(fragment, now)) this.lose()
    }
    if (this.#waiting.size === 0) this.#gapSince = undefined
    else if (this.#gapSince === undefined || this.#next !== before) this.#gapSince = now
  }

  /** Adds a packet to its frame. Returns false if it fits to none, although no packet was lost before it. */
  #take({ payload, timestamp, isMarked }: Fragment, now: number): boolean {
    // Padding alone takes a sequence number, too.
    if (payload.length === 0) return true
    const vp8 = this.#vp8
    if (!readVp8(payload, 0, payload.length, vp8)) return false
    if (vp8.isFrameStart) this.#begin(timestamp, now)
    else if (this.#parts.length === 0 || timestamp !== this.#timestamp) return this.#needsKey
    if (this.#needsKey) return true
    const part = payload.subarray(vp8.start)
    this.#bytes += part.length
    if (this.#bytes > maxFrameBytes || this.#parts.length === maxParts) return false
    this.#parts.push(part)
    if (isMarked) this.#finish(now)
    return true
  }

  #begin(timestamp: number, now: number): void {
    // The frame before had no marker, but nothing of it is missing.
    if (this.#parts.length > 0) this.#finish(now)
    if (this.#vp8.isKeyFrameStart) this.#needsKey = false
    this.#timestamp = timestamp
  }

  #finish(now: number): void {
    const frame = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts, this.#bytes)
    this.#drop()
    this.#options.onFrame(frame, now, this.#timestamp)
  }

  #drop(): void {
    this.#parts = []
    this.#bytes = 0
  }
}
