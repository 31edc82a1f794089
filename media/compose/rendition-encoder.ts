import type { CanvasSize } from '../types.ts'
import { maxFrameBytes, type NativeEncoder, type PicturesAddon } from './pictures.ts'
import type { Vp8Packetizer } from './vp8-packetizer.ts'

/** Minimum time between key frames, in ms: all viewers who ask meanwhile share the next one. */
const minKeyMs = 500
/** Time between sender reports, in ms. mediasoup needs one of each rendition to change a viewer's layer. */
const reportMs = 1000
/** Speed of the encoder. A step of 4 costs or saves about a quarter of the time. */
const speed = 12

/** Receives the frames of all encoders; a frame is split into packets before the next one. */
const scratch = new Uint8Array(maxFrameBytes)

/** Collaborators and values of a {@link RenditionEncoder}. */
export interface RenditionEncoderOptions {
  readonly addon: PicturesAddon
  readonly size: CanvasSize
  readonly kbps: number
  readonly packetizer: Vp8Packetizer
  readonly send: (packets: readonly Buffer[], kind: 'rtp' | 'rtcp') => void
}

/** One rendition of a picture: its encoder, its key frames, and its packets. */
export class RenditionEncoder {
  readonly #options: RenditionEncoderOptions
  #encoder: NativeEncoder
  #size: CanvasSize
  #kbps: number
  #needsKey = true
  #hasBegun = false
  #keyAt = Number.NEGATIVE_INFINITY
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(options: RenditionEncoderOptions) {
    this.#options = options
    this.#size = options.size
    this.#kbps = options.kbps
    this.#encoder = this.#open()
  }

  get size(): CanvasSize {
    return this.#size
  }

  /** Time at which a wanted key frame may be sent; undefined if none is wanted. */
  get keyDueAt(): number | undefined {
    return this.#needsKey ? this.#keyAt + minKeyMs : undefined
  }

  /** Begins again with a key frame. */
  begin(): void {
    this.#needsKey = true
    this.#hasBegun = false
    this.#keyAt = Number.NEGATIVE_INFINITY
  }

  /** Makes one of the next frames a key frame. */
  requestKey(): void {
    this.#needsKey = true
  }

  /** Changes the bit rate, and the size if it differs; a new size starts with a key frame. */
  change(size: CanvasSize, kbps: number): void {
    const isSame = size.width === this.#size.width && size.height === this.#size.height
    if (isSame && kbps === this.#kbps) return
    this.#size = size
    this.#kbps = kbps
    if (isSame) {
      this.#options.addon.setRate(this.#encoder, kbps)
      return
    }
    this.close()
    this.#encoder = this.#open()
    this.begin()
  }

  /** Encodes a canvas and sends it. `units`: time since the start, in units of 90 kHz; must increase. */
  encode(now: number, units: number, canvas: Uint8Array): void {
    const { addon, packetizer, send } = this.#options
    const { width, height } = this.#size
    const isKey = this.#needsKey && now - this.#keyAt >= minKeyMs
    const length = addon.encode(this.#encoder, canvas, width, height, units, isKey, scratch)
    if (length > 0) {
      if (isKey) {
        this.#needsKey = false
        // The first one may have no viewer yet: the next one need not wait for its sake.
        if (this.#hasBegun) this.#keyAt = now
      }
      this.#hasBegun = true
      send(packetizer.packetize(scratch.subarray(0, length), units), 'rtp')
    }
    if (now - this.#reportedAt < reportMs) return
    this.#reportedAt = now
    send([packetizer.report(now, units)], 'rtcp')
  }

  /** Frees the encoder. */
  close(): void {
    this.#options.addon.release(this.#encoder)
  }

  #open(): NativeEncoder {
    const { width, height } = this.#size
    return this.#options.addon.encoder(width, height, this.#kbps, speed)
  }
}
