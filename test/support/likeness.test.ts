import { expect, it } from 'vitest'
import { decode, encode } from '../../media/codecs/g711.ts'
import { piecesIn, sameShare, sweep } from './likeness.ts'

const up = sweep(300, 3000, 2000)
const after = (ms: number, ...parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from([new Int16Array(ms * 8), ...parts, new Int16Array(800)].flatMap((part) => [...part]))

it('a sound is found in a recording despite the codec’s noise', () => {
  const pieces = piecesIn(decode('PCMU', encode('PCMU', after(123, up))), up)
  expect(pieces).toHaveLength(10)
  for (const { lag, snrDb } of pieces) {
    expect(lag).toBe(123 * 8)
    expect(snrDb).toBeGreaterThan(30)
    expect(snrDb).toBeLessThan(50)
  }
  expect(sameShare(pieces)).toBe(1)
})

it('a sound is not found in another sound, in silence, at another level or mixed with a tone', () => {
  const found = (recorded: Int16Array): number => sameShare(piecesIn(recorded, up))
  expect(found(after(100, sweep(3000, 300, 2000)))).toBe(0)
  expect(found(new Int16Array(20_000))).toBe(0)
  expect(
    found(
      after(
        100,
        up.map((sample) => sample * 0.9),
      ),
    ),
  ).toBe(0)
  expect(
    found(
      after(
        100,
        up.map((sample, i) => sample + 500 * Math.sin(i)),
      ),
    ),
  ).toBe(0)
})

it('pieces of a sound before and after a gap are found, but not a piece that contains the gap', () => {
  const torn = after(100, up.subarray(0, 4000), new Int16Array(160), up.subarray(4000))
  const pieces = piecesIn(torn, up)
  expect(sameShare(pieces)).toBe(0.9)
  expect(pieces.filter(({ snrDb }) => snrDb > 30).map(({ lag }) => lag - 800)).toEqual([
    0, 0, 160, 160, 160, 160, 160, 160, 160,
  ])
})
