import { describe, expect, it } from 'vitest'
import { captionOf, drawLabel, titleOf } from './name-label.ts'
import { canvasBytes } from './pictures.ts'
import type { Tile } from './tiles.ts'

const size = { width: 320, height: 180 }
const tile: Tile = {
  memberId: 'a',
  isVisible: true,
  fit: 'cover',
  x: 160,
  y: 60,
  width: 160,
  height: 120,
  name: 'Vera',
  isCaptioned: true,
}

/** Canvas of one colour. */
const canvas = (y: number, chroma: number): Uint8Array => {
  const bytes = new Uint8Array(canvasBytes(size.width, size.height)).fill(chroma)
  return bytes.fill(y, 0, size.width * size.height)
}

describe('the name of a tile', () => {
  it.each([16, 128, 235])(
    'is light on a dark bar over a picture of lightness %i, at its lower left',
    (lightness) => {
      const bytes = canvas(lightness, 240)
      const label = captionOf(tile)!
      drawLabel(bytes, size, tile, label)
      expect([label.x, label.y + label.height]).toEqual([0, tile.height])
      const seen: number[] = []
      for (let row = 0; row < size.height; row++)
        for (let column = 0; column < size.width; column++) {
          const isInside =
            column >= 160 && column < 160 + label.width && row >= 180 - label.height && row < 180
          const value = bytes[row * size.width + column]!
          if (isInside) seen.push(value)
          else expect(value).toBe(lightness)
        }
      expect(Math.min(...seen)).toBe(lightness >> 1)
      expect(Math.max(...seen) - (lightness >> 1)).toBeGreaterThan(100)
      const chroma = bytes.subarray(size.width * size.height)
      expect(chroma.filter((value) => value === 184).length).toBe((label.width * label.height) / 2)
      expect(chroma.filter((value) => value === 240).length).toBe(
        chroma.length - (label.width * label.height) / 2,
      )
    },
  )

  it('is in the middle of a plain tile', () => {
    const bytes = canvas(48, 128)
    const label = titleOf(tile)!
    drawLabel(bytes, size, tile, label)
    expect(Math.abs(2 * label.x + label.width - tile.width)).toBeLessThanOrEqual(2)
    expect(Math.abs(2 * label.y + label.height - tile.height)).toBeLessThanOrEqual(2)
    const luma = bytes.subarray(0, size.width * size.height)
    expect([Math.min(...luma), Math.max(...luma)]).toEqual([48, expect.closeTo(234, -1)])
    expect(new Set(bytes.subarray(size.width * size.height))).toEqual(new Set([128]))
  })

  it('is left out without a text, where it is not wanted, and where the tile is small', () => {
    expect(captionOf({ ...tile, isCaptioned: undefined })).toBeUndefined()
    expect(titleOf({ ...tile, isCaptioned: undefined })).toBeDefined()
    for (const other of [{ name: undefined }, { name: ' ' }, { width: 58 }, { height: 58 }])
      expect([captionOf({ ...tile, ...other }), titleOf({ ...tile, ...other })]).toEqual([
        undefined,
        undefined,
      ])
  })

  it('stays within its tile at any size', () => {
    const name = 'The Right Honourable Wolfgang von Nowhere'
    for (let side = 60; side <= 1280; side += 58)
      for (const label of [captionOf, titleOf].map((of) =>
        of({ ...tile, name, width: side, height: side }),
      )) {
        expect(label!.x + label!.width).toBeLessThanOrEqual(side)
        expect(label!.y + label!.height).toBeLessThanOrEqual(side)
        for (const each of [label!.x, label!.y, label!.width, label!.height]) expect(each % 2).toBe(0)
      }
  })
})
