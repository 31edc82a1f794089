/** Marks of frames in pictures: the number of a frame as a stack of bars, with one for the parity. */
import type { PicturesAddon } from '../../media/compose/pictures.ts'
import { Screen } from '../../media/compose/testing/screen.ts'
import { isKeyFrame } from '../../media/rooms/vp8-descriptor.ts'

/** Number of different marks. */
export const markCount = 64
const bits = 6
const white = Uint8Array.of(220, 128, 128)
const black = Uint8Array.of(30, 128, 128)

/** Draws the mark of a number into the middle of a picture. */
export const mark = (
  addon: PicturesAddon,
  picture: Uint8Array,
  [width, height]: readonly [number, number],
  number: number,
): void => {
  const bar = 2 * Math.floor(height / (bits + 1) / 2)
  let ones = 0
  for (let bit = 0; bit <= bits; bit++) {
    const isOne = bit < bits ? (number >> bit) & 1 : ones & 1
    ones += isOne
    const at = Int32Array.of(4 * Math.floor(width / 10), bit * bar, 2 * Math.floor(width / 10), bar)
    addon.fill(picture, width, height, at, isOne ? white : black)
  }
}

/** Rectangle in percent of a picture. */
export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A whole picture. */
export const whole: Rectangle = { x: 0, y: 0, width: 100, height: 100 }

/** Reads the marks in a part of the frames of a stream. */
export class MarkReader {
  readonly #screen: Screen
  readonly #points: readonly (readonly [number, number])[]
  #hasKey = false

  constructor(addon: PicturesAddon, { x, y, width, height }: Rectangle) {
    this.#screen = new Screen(addon, 0)
    this.#points = Array.from({ length: bits + 1 }, (_, bit) => {
      const down = (bit + 0.5) / (bits + 1)
      return [x + width / 2, y + height * down] as const
    })
  }

  /** Size of the latest picture. */
  get size(): readonly [number, number] {
    return this.#screen.size
  }

  /** Returns the number in the next frame of the stream; undefined if it is not readable. */
  read(frame: Buffer): number | undefined {
    this.#hasKey ||= isKeyFrame(frame)
    if (!this.#hasKey) return undefined
    this.#screen.show(frame)
    const found = this.#screen.coloursAt(this.#points).map(([y]) => (y > 128 ? 1 : 0))
    const ones = found.reduce<number>((sum, bit) => sum + bit, 0)
    const number = found.slice(0, bits).reduce<number>((sum, one, bit) => sum | (one << bit), 0)
    return ones % 2 === 0 ? number : undefined
  }

  /** Frees the decoder. */
  close(): void {
    this.#screen.close()
  }
}
