import type { CanvasSize, ComposedLayer } from '../types.ts'

/** Rectangle in pixels; all values are even, because four pixels share their colour. */
export interface PixelRectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Rectangle of a canvas with the source that fills it. */
export interface Tile extends PixelRectangle {
  readonly memberId: string
  readonly isVisible: boolean
  readonly fit: 'cover' | 'contain'
  readonly name?: string | undefined
  readonly isCaptioned?: boolean | undefined
}

/** Smallest side of a tile in pixels; smaller layers are not drawn. */
const minSide = 16

/** Returns the even pixel next to a percentage of a side, within the side. */
const pixelAt = (percent: number, side: number): number =>
  Math.min(side, Math.max(0, 2 * Math.round((percent * side) / 200)))

/** Returns the tiles of layers in the order of drawing. Layers that share an edge leave no gap. */
export const tilesOf = (layers: readonly ComposedLayer[], canvas: CanvasSize): readonly Tile[] =>
  layers
    .toSorted((a, b) => a.z - b.z)
    .map(({ memberId, isVisible, fit = 'cover', name, isCaptioned, ...layer }): Tile => {
      const x = pixelAt(layer.x, canvas.width)
      const y = pixelAt(layer.y, canvas.height)
      const width = pixelAt(layer.x + layer.width, canvas.width) - x
      const height = pixelAt(layer.y + layer.height, canvas.height) - y
      return { memberId, isVisible, fit, name, isCaptioned, x, y, width, height }
    })
    .filter(({ width, height }) => width >= minSide && height >= minSide)

/** Whether two rectangles have a pixel in common. */
export const overlaps = (a: PixelRectangle, b: PixelRectangle): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

const even = (value: number): number => 2 * Math.round(value / 2)

/** Returns the largest rectangle in the middle of `within` that has the aspect ratio of a picture. */
export const containedIn = (within: PixelRectangle, picture: CanvasSize): PixelRectangle => {
  const factor = Math.min(within.width / picture.width, within.height / picture.height)
  const width = Math.max(2, Math.min(within.width, even(picture.width * factor)))
  const height = Math.max(2, Math.min(within.height, even(picture.height * factor)))
  const x = within.x + 2 * Math.floor((within.width - width) / 4)
  const y = within.y + 2 * Math.floor((within.height - height) / 4)
  return { x, y, width, height }
}
