import { isKeyFrame } from '../../rooms/vp8-descriptor.ts'
import { FrameAssembler } from '../frame-assembler.ts'
import { canvasBytes, Decoded, type NativeDecoder, type PicturesAddon } from '../pictures.ts'
import type { Colour } from './camera.ts'

/** A viewer that decodes one VP8 stream and reads colours from its picture. */
export class Screen {
  readonly #addon: PicturesAddon
  readonly #decoder: NativeDecoder
  readonly #assembler: FrameAssembler
  /** Frames so far, each with whether it is a key frame. */
  readonly frames: boolean[] = []

  constructor(addon: PicturesAddon, ssrc: number, payloadType = 96) {
    this.#addon = addon
    this.#decoder = addon.decoder()
    this.#assembler = new FrameAssembler({
      ssrc,
      payloadType,
      onFrame: (frame) => this.show(frame),
      onKeyNeeded: () => {},
    })
  }

  /** Size of the picture as [width, height]; both 0 before the first one. */
  get size(): readonly [number, number] {
    const packed = this.#addon.sizeOf(this.#decoder)
    return [Math.floor(packed / 65536), packed % 65536]
  }

  /** Processes an RTP packet. */
  receive(packet: Buffer): void {
    this.#assembler.receive(0, packet)
  }

  /** Decodes a frame. Throws if it cannot be decoded. */
  show(frame: Buffer): void {
    const result = this.#addon.decode(this.#decoder, frame)
    if (result !== Decoded.picture) throw new Error(`decoded with ${result}`)
    this.frames.push(isKeyFrame(frame))
  }

  /** Returns the colours at points of the picture, in percent. */
  coloursAt(points: readonly (readonly [number, number])[]): Colour[] {
    const [width, height] = this.size
    const bytes = new Uint8Array(canvasBytes(width, height))
    this.#addon.draw(bytes, width, height, Int32Array.of(0, 0, width, height), this.#decoder)
    const area = width * height
    return points.map(([left, top]) => {
      const x = Math.min(width - 1, Math.floor((left * width) / 100))
      const y = Math.min(height - 1, Math.floor((top * height) / 100))
      const chroma = area + (y >> 1) * (width / 2) + (x >> 1)
      return [bytes[y * width + x]!, bytes[chroma]!, bytes[chroma + area / 4]!]
    })
  }

  /** Frees the decoder. */
  close(): void {
    this.#addon.release(this.#decoder)
  }
}

/** Returns the largest difference between two colours in one component. */
export const colourDistance = (a: Colour, b: Colour): number =>
  Math.max(...a.map((value, at) => Math.abs(value - b[at]!)))
