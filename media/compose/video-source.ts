import type { CanvasSize } from '../types.ts'
import { FrameAssembler } from './frame-assembler.ts'
import { PictureWatch } from './picture-watch.ts'
import { Decoded, type NativeDecoder, type PicturesAddon } from './pictures.ts'

/** Minimum time between requests for a key frame, in ms. */
const minRequestMs = 500
/** Maximum number of frames decoded in a second; a source that sends more loses its picture for a while. */
const maxFramesPerSecond = 75

/** Collaborators and values of a {@link VideoSource}. */
export interface VideoSourceOptions {
  readonly addon: PicturesAddon
  readonly ssrc: number
  readonly payloadType: number
  /** Called for each new picture. */
  readonly onPicture: () => void
  /** Called when packets arrive that give no picture, although a key frame was requested. */
  readonly onStalled: () => void
  /** Called with a packet to send to the source. */
  readonly sendFeedback: (packet: Buffer) => void
}

/** Returns a picture loss indication (RFC 4585 section 6.3.1). */
const pictureLoss = (ssrc: number): Buffer => {
  const packet = Buffer.alloc(12)
  packet[0] = 0x81
  packet[1] = 206
  packet.writeUInt16BE(2, 2)
  packet.writeUInt32BE(ssrc, 8)
  return packet
}

/** One incoming camera or screen: its packets become pictures in a decoder. */
export class VideoSource {
  readonly #options: VideoSourceOptions
  readonly #decoder: NativeDecoder
  readonly #assembler: FrameAssembler
  readonly #watch: PictureWatch
  #pictures = 0
  #requestedAt = Number.NEGATIVE_INFINITY
  #second = 0
  #frames = 0

  constructor(options: VideoSourceOptions) {
    this.#options = options
    this.#decoder = options.addon.decoder()
    this.#watch = new PictureWatch({
      requestKey: (now) => {
        // The frames until then depend on pictures that the decoder may not have.
        this.#assembler.lose()
        this.requestKey(now)
      },
      onStalled: options.onStalled,
    })
    this.#assembler = new FrameAssembler({
      ssrc: options.ssrc,
      payloadType: options.payloadType,
      onFrame: (frame, now) => this.#decode(frame, now),
      onKeyNeeded: (now) => this.requestKey(now),
    })
  }

  get decoder(): NativeDecoder {
    return this.#decoder
  }

  /** Number of decoded pictures; changes with each new one. */
  get pictures(): number {
    return this.#pictures
  }

  /** Returns the size of the present picture; undefined without a picture. */
  size(): CanvasSize | undefined {
    const packed = this.#options.addon.sizeOf(this.#decoder)
    return packed === 0 ? undefined : { width: Math.floor(packed / 65536), height: packed % 65536 }
  }

  /** Processes an RTP packet. */
  receive(now: number, packet: Buffer): void {
    const before = this.#pictures
    if (this.#assembler.receive(now, packet) && this.#pictures === before) this.#watch.packet(now)
  }

  /** Gives up packets that are overdue. */
  tick(now: number): void {
    this.#assembler.tick(now)
  }

  /** Requests a key frame, unless one was requested within the last 500 ms. */
  requestKey(now: number): void {
    if (now - this.#requestedAt < minRequestMs) return
    this.#requestedAt = now
    this.#options.sendFeedback(pictureLoss(this.#options.ssrc))
  }

  /** Frees the decoder. */
  close(): void {
    this.#options.addon.release(this.#decoder)
  }

  #decode(frame: Buffer, now: number): void {
    const result = this.#isTooFast(now) ? Decoded.corrupt : this.#options.addon.decode(this.#decoder, frame)
    if (result < 0) this.#assembler.lose()
    if (result !== Decoded.picture) return
    this.#pictures++
    this.#watch.picture()
    this.#options.onPicture()
  }

  #isTooFast(now: number): boolean {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) this.#frames = 0
    this.#second = second
    return ++this.#frames > maxFramesPerSecond
  }
}
