import type { CanvasSize } from '../types.ts'
import { drawText, type TextMask } from './lettering.ts'
import type { PixelRectangle, Tile } from './tiles.ts'

/** Lightness of letters. */
const light = 235
/** Smallest side of a tile that has a name, in pixels. */
const minSide = 60
const minHeight = 14
const maxHeight = 40

/** A name at its place of a tile: x and y are from the top left corner of the tile. */
export interface NameLabel extends PixelRectangle {
  /** Coverage of the letters from 0 to 255, in rows of the width. */
  readonly alpha: Uint8Array
  /** Whether it stands on a dark bar, else on the plain tile itself. */
  readonly isBar: boolean
}

const even = (value: number): number => 2 * Math.floor(value / 2)

/** Returns the height of letters, with accents and descenders, in pixels. */
const heightFor = ({ height }: PixelRectangle, share: number): number =>
  even(Math.min(maxHeight, Math.max(minHeight, height * share)))

/** Puts a text into the middle of a larger mask. */
const padded = ({ alpha, width, height }: TextMask, padX: number, padY: number): TextMask => {
  const around = { width: width + 2 * padX, height: height + 2 * padY }
  const wide = new Uint8Array(around.width * around.height)
  for (let row = 0; row < height; row++)
    wide.set(alpha.subarray(row * width, (row + 1) * width), (row + padY) * around.width + padX)
  return { ...around, alpha: wide }
}

/** Returns the name at the lower left of a tile; undefined if it has none there, or if the tile is small. */
export const captionOf = (tile: Tile): NameLabel | undefined => {
  const { name, isCaptioned, width, height } = tile
  if (name === undefined || !isCaptioned || Math.min(width, height) < minSide) return undefined
  const text = drawText(name, heightFor(tile, 0.07), width - 12)
  if (text.width === 0) return undefined
  const { alpha, ...size } = padded(text, 6, 2)
  return { ...size, alpha, x: 0, y: height - size.height, isBar: true }
}

/** Returns the name in the middle of a plain tile; undefined without a name, or if the tile is small. */
export const titleOf = (tile: Tile): NameLabel | undefined => {
  const { name, width, height } = tile
  if (name === undefined || Math.min(width, height) < minSide) return undefined
  const text = drawText(name, heightFor(tile, 0.1), width - 12)
  if (text.width === 0) return undefined
  const x = even((width - text.width) / 2)
  const y = even((height - text.height) / 2)
  return { ...text, x, y, isBar: false }
}

const blendLuma = (bytes: Uint8Array, stride: number, label: NameLabel): void => {
  const { x, y, width, height, alpha, isBar } = label
  let from = 0
  for (let row = y; row < y + height; row++)
    for (let at = row * stride + x, end = at + width; at < end; at++) {
      const base = isBar ? bytes[at]! >> 1 : bytes[at]!
      const coverage = alpha[from++]!
      bytes[at] = coverage === 0 ? base : base + (((light - base) * coverage) >> 8)
    }
}

/** Halves the colour under a bar, in one of the planes. */
const fadeChroma = (bytes: Uint8Array, start: number, stride: number, label: NameLabel): void => {
  const { x, y, width, height } = label
  for (let row = y / 2; row < (y + height) / 2; row++)
    for (let at = start + row * stride + x / 2, end = at + width / 2; at < end; at++)
      bytes[at] = (bytes[at]! + 128) >> 1
}

/** Draws the label of a tile on a canvas in I420. */
export const drawLabel = (bytes: Uint8Array, size: CanvasSize, tile: Tile, of: NameLabel): void => {
  const label = { ...of, x: tile.x + of.x, y: tile.y + of.y }
  blendLuma(bytes, size.width, label)
  if (!label.isBar) return
  const area = size.width * size.height
  for (const start of [area, area + area / 4]) fadeChroma(bytes, start, size.width / 2, label)
}
