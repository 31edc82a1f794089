import type { Position, Rectangle } from '../room-types.ts'
import type { LayoutName } from './layout-names.ts'

/** Place for one member in a layout. */
export interface Slot extends Rectangle {
  readonly position: Position
}

/** Returns a slot from its edges, which are fractions of the canvas, rounded to hundredths of a percent. */
const slot = (position: Position, left: number, top: number, right: number, bottom: number): Slot => {
  const [x, y, endX, endY] = [left, top, right, bottom].map((edge) => Math.round(edge * 10_000)) as [
    number,
    number,
    number,
    number,
  ]
  return { position, x: x / 100, y: y / 100, width: (endX - x) / 100, height: (endY - y) / 100 }
}

/** Returns a slot with the size of the whole canvas. */
export const wholeCanvas = (position: Position): Slot => slot(position, 0, 0, 1, 1)

const standard = (number: number): Position => `standard-${number}`

/** Returns equal cells in rows. */
const grid = (columns: number, rows: number): readonly Slot[] =>
  Array.from({ length: columns * rows }, (_, at) => {
    const row = Math.floor(at / columns)
    const column = at % columns
    const edges = [column / columns, row / rows, (column + 1) / columns, (row + 1) / rows] as const
    return slot(standard(at + 1), ...edges)
  })

const square = (side: number) => (): readonly Slot[] => grid(side, side)

/** Returns two cells side by side, in the middle of the canvas and with its proportions. */
const pair = (): readonly Slot[] => [
  slot(standard(1), 0, 0.25, 0.5, 0.75),
  slot(standard(2), 0.5, 0.25, 1, 0.75),
]

/** Sides of the square grids that a growing grid passes through. */
const sides = [1, 2, 3, 4, 5, 6, 8, 10] as const

/** Returns the smallest grid for a number of members; the largest one has 100 cells. */
const responsive = (count: number): readonly Slot[] => {
  if (count === 2) return pair()
  const side = sides.find((each) => each * each >= count) ?? 10
  return grid(side, side)
}

/** Returns a grid with about twice as many rows as columns, for a display that is held upright. */
const upright = (count: number): readonly Slot[] => {
  const shown = Math.max(1, Math.min(100, count))
  const columns = Math.ceil(Math.sqrt(shown / 2))
  return grid(columns, Math.ceil(shown / columns))
}

/** Returns one cell of two thirds, and five small cells to its right and below. */
const highlight = (): readonly Slot[] => [
  slot('reserved-1', 0, 0, 2 / 3, 2 / 3),
  slot(standard(1), 2 / 3, 0, 1, 1 / 3),
  slot(standard(2), 2 / 3, 1 / 3, 1, 2 / 3),
  slot(standard(3), 0, 2 / 3, 1 / 3, 1),
  slot(standard(4), 1 / 3, 2 / 3, 2 / 3, 1),
  slot(standard(5), 2 / 3, 2 / 3, 1, 1),
]

/** Returns one cell of three quarters, and four small cells in a column to its right. */
const fiveUp = (): readonly Slot[] => [
  slot('reserved-1', 0, 0.125, 0.75, 0.875),
  ...[0, 1, 2, 3].map((row) => slot(standard(row + 1), 0.75, row / 4, 1, (row + 1) / 4)),
]

const slotsByName: Readonly<Record<LayoutName, (count: number) => readonly Slot[]>> = {
  'grid-responsive': responsive,
  'grid-responsive-mobile': upright,
  'highlight-1-responsive': highlight,
  '1x1': square(1),
  '2x1': pair,
  '2x2': square(2),
  '5up': fiveUp,
  '3x3': square(3),
  '4x4': square(4),
  '5x5': square(5),
  '6x6': square(6),
  '8x8': square(8),
  '10x10': square(10),
  'full-screen': () => [wholeCanvas('full-screen')],
}

/**
 * Returns the slots of a layout beside one another. `count`: number of members that need one. Responsive
 * grids grow with it.
 */
export const slotsOf = (name: LayoutName, count: number): readonly Slot[] => slotsByName[name](count)

/** Returns the slots that cover a layout, in order of drawing. Members take them by request only. */
export const coversOf = (name: LayoutName): readonly Slot[] =>
  name === 'full-screen' ? [wholeCanvas('playback')] : [wholeCanvas('playback'), wholeCanvas('full-screen')]
