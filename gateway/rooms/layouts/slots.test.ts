import { describe, expect, it } from 'vitest'
import type { Rectangle } from '../room-types.ts'
import { layoutNames } from './layout-names.ts'
import { coversOf, slotsOf } from './slots.ts'

/** Edges in hundredths of a percent, which are whole numbers. */
const edges = ({ x, y, width, height }: Rectangle) => {
  const [left, top] = [x, y].map((each) => Math.round(each * 100)) as [number, number]
  return { left, top, right: left + Math.round(width * 100), bottom: top + Math.round(height * 100) }
}

const overlaps = (one: Rectangle, other: Rectangle): boolean => {
  const a = edges(one)
  const b = edges(other)
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

describe('slots of layouts', () => {
  it.each(layoutNames)('lie beside one another within the canvas in %s', (name) => {
    for (let count = 0; count <= 120; count++) {
      const slots = slotsOf(name, count)
      expect(slots.length).toBeGreaterThan(0)
      const all = [...slots, ...coversOf(name)]
      expect(new Set(all.map(({ position }) => position)).size).toBe(all.length)
      for (const [at, slot] of slots.entries()) {
        const { left, top, right, bottom } = edges(slot)
        expect(Math.min(left, top)).toBeGreaterThanOrEqual(0)
        expect(Math.max(right, bottom)).toBeLessThanOrEqual(10_000)
        expect(right).toBeGreaterThan(left)
        expect(bottom).toBeGreaterThan(top)
        expect(slots.slice(at + 1).find((other) => overlaps(slot, other))).toBeUndefined()
      }
    }
  })

  it.each(layoutNames)('have coordinates with two decimals in %s', (name) => {
    for (const { x, y, width, height } of slotsOf(name, 7))
      for (const value of [x, y, width, height]) expect(Number(value.toFixed(2))).toBe(value)
  })

  it('grow from one cell to a hundred in the responsive grid', () => {
    const counts = [0, 1, 2, 3, 4, 5, 9, 10, 16, 17, 25, 26, 36, 37, 64, 65, 100, 300]
    expect(counts.map((count) => slotsOf('grid-responsive', count).length)).toEqual([
      1, 1, 2, 4, 4, 9, 9, 16, 16, 25, 25, 36, 36, 64, 64, 100, 100, 100,
    ])
  })

  it('suffice for up to 100 members in the upright grid, with two columns at first', () => {
    for (let count = 1; count <= 100; count++)
      expect(slotsOf('grid-responsive-mobile', count).length).toBeGreaterThanOrEqual(count)
    expect(slotsOf('grid-responsive-mobile', 5).map(({ width }) => width)).toEqual([50, 50, 50, 50, 50, 50])
  })

  it('keep the proportions of the canvas for two members', () => {
    expect(slotsOf('grid-responsive', 2)).toEqual([
      { position: 'standard-1', x: 0, y: 25, width: 50, height: 50 },
      { position: 'standard-2', x: 50, y: 25, width: 50, height: 50 },
    ])
    expect(slotsOf('2x1', 1)).toEqual(slotsOf('grid-responsive', 2))
  })

  it('have the large slot at the top left of the highlight', () => {
    const [large, ...small] = slotsOf('highlight-1-responsive', 1)
    expect(large).toEqual({ position: 'reserved-1', x: 0, y: 0, width: 66.67, height: 66.67 })
    expect(small.map(({ position }) => position)).toEqual([
      'standard-1',
      'standard-2',
      'standard-3',
      'standard-4',
      'standard-5',
    ])
  })

  it('fill the canvas without gaps in a grid of thirds', () => {
    const area = slotsOf('3x3', 1).map(
      ({ width, height }) => Math.round(width * 100) * Math.round(height * 100),
    )
    expect(area.reduce((sum, each) => sum + each, 0)).toBe(100_000_000)
  })
})
