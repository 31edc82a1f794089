import { canvasBytes, maxFrameBytes, type NativeEncoder, type PicturesAddon } from '../pictures.ts'
import { Vp8Packetizer } from '../vp8-packetizer.ts'

/** Colour as y, u and v. */
export type Colour = readonly [number, number, number]

/** Settings of a {@link Camera}. */
export interface CameraOptions {
  readonly addon: PicturesAddon
  readonly width: number
  readonly height: number
  readonly ssrc: number
  /** Default 600. */
  readonly kbps?: number
}

/** A camera that shows plain colours, or moving ones with noise, as VP8. */
export class Camera {
  readonly #options: CameraOptions
  readonly #encoder: NativeEncoder
  readonly #canvas: Uint8Array
  readonly #packetizer: Vp8Packetizer
  #units = 0
  #noise = 1

  constructor(options: CameraOptions) {
    const { addon, width, height, ssrc, kbps = 600 } = options
    this.#options = options
    this.#encoder = addon.encoder(width, height, kbps, 12)
    this.#canvas = new Uint8Array(canvasBytes(width, height))
    this.#packetizer = new Vp8Packetizer({
      ssrc,
      payloadType: 96,
      cname: 'camera',
      sequence: 0,
      timestamp: 0,
      pictureId: 0,
    })
  }

  /** Picture in I420. */
  get picture(): Uint8Array {
    return this.#canvas
  }

  /** Fills the picture with one colour. */
  show(colour: Colour): void {
    const { addon, width, height } = this.#options
    addon.fill(this.#canvas, width, height, Int32Array.of(0, 0, width, height), Uint8Array.from(colour))
  }

  /** Draws a moving box above a gradient, with noise as of a camera. `at`: number of the picture. */
  move(at: number): void {
    const { addon, width, height } = this.#options
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        this.#noise = (Math.imul(this.#noise, 1664525) + 1013904223) >>> 0
        this.#canvas[y * width + x] = 40 + ((x + y + at) & 127) + (this.#noise >>> 29)
      }
    const side = 2 * Math.floor(height / 6)
    const left = 2 * (Math.floor(at * 3) % Math.floor((width - side) / 2))
    const box = Int32Array.of(left, side, side, side)
    addon.fill(this.#canvas, width, height, box, Uint8Array.of(200, 90, 160))
  }

  /** Returns the next frame; empty if the rate control drops it. */
  frame(isKey = false): Buffer {
    const { addon, width, height } = this.#options
    const to = Buffer.allocUnsafe(maxFrameBytes)
    this.#units += 3000
    const length = addon.encode(this.#encoder, this.#canvas, width, height, this.#units, isKey, to)
    return to.subarray(0, length)
  }

  /** Returns the RTP packets of the next frame. */
  packets(isKey = false): Buffer[] {
    const frame = this.frame(isKey)
    return frame.length === 0 ? [] : this.#packetizer.packetize(frame, this.#units)
  }

  /** Changes the bit rate, in kbit/s. */
  setRate(kbps: number): void {
    this.#options.addon.setRate(this.#encoder, kbps)
  }

  /** Frees the encoder. */
  close(): void {
    this.#options.addon.release(this.#encoder)
  }
}
