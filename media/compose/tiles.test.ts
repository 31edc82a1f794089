import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ComposedLayer } from '../types.ts'
import { containedIn, overlaps, tilesOf } from './tiles.ts'

const canvas = { width: 1280, height: 720 }
const layer = (more: Partial<ComposedLayer>): ComposedLayer => ({
  memberId: 'a',
  x: 0,
  y: 0,
  width: 100,
  height: 100,
  z: 0,
  isVisible: true,
  ...more,
})

describe('the tiles of a canvas', () => {
  it('are even rectangles inside of it, in the order of drawing', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            x: fc.double({ min: -50, max: 150, noNaN: true }),
            y: fc.double({ min: -50, max: 150, noNaN: true }),
            width: fc.double({ min: 0, max: 200, noNaN: true }),
            height: fc.double({ min: 0, max: 200, noNaN: true }),
            z: fc.integer({ min: -5, max: 5 }),
          }),
        ),
        (layers) => {
          const tiles = tilesOf(layers.map(layer), canvas)
          for (const { x, y, width, height } of tiles) {
            expect([x % 2, y % 2, width % 2, height % 2].map(Math.abs)).toEqual([0, 0, 0, 0])
            expect(x >= 0 && y >= 0 && width >= 16 && height >= 16).toBe(true)
            expect(x + width <= canvas.width && y + height <= canvas.height).toBe(true)
          }
        },
      ),
    )
    const order = tilesOf([layer({ z: 2, memberId: 'top' }), layer({ z: 1, memberId: 'low' })], canvas)
    expect(order.map(({ memberId }) => memberId)).toEqual(['low', 'top'])
  })

  it('leave no gap between neighbours', () => {
    const third = 100 / 3
    const tiles = tilesOf(
      [0, 1, 2].map((at) => layer({ x: at * third, width: third })),
      canvas,
    )
    expect(tiles.map(({ x, width }) => [x, x + width])).toEqual([
      [0, 426],
      [426, 854],
      [854, 1280],
    ])
  })

  it('overlap only if they share a pixel', () => {
    const [left, right, middle] = tilesOf(
      [layer({ width: 50 }), layer({ x: 50, width: 50 }), layer({ x: 25, width: 50 })],
      canvas,
    )
    expect(overlaps(left!, right!)).toBe(false)
    expect(overlaps(left!, middle!)).toBe(true)
    expect(overlaps(middle!, right!)).toBe(true)
  })

  it('contain a whole picture between bars', () => {
    const within = { x: 100, y: 50, width: 400, height: 400 }
    expect(containedIn(within, { width: 1600, height: 800 })).toEqual({
      x: 100,
      y: 150,
      width: 400,
      height: 200,
    })
    expect(containedIn(within, { width: 300, height: 600 })).toEqual({
      x: 200,
      y: 50,
      width: 200,
      height: 400,
    })
    expect(containedIn(within, { width: 1, height: 1900 })).toMatchObject({ width: 2, height: 400 })
  })
})
