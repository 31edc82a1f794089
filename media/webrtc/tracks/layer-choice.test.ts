import { describe, expect, it } from 'vitest'
import { layerFor } from './layer-choice.ts'

describe('the choice of an encoding', () => {
  it('is the smallest one that is wide enough', () => {
    const widths = [0, 160, 320, 400, 401, 640, 800, 801, 1280, 100_000]
    expect(widths.map((width) => layerFor(width, 3))).toEqual([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    expect(widths.map((width) => layerFor(width, 2))).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    expect(widths.map((width) => layerFor(width, 1))).toEqual(widths.map(() => 0))
  })
})
