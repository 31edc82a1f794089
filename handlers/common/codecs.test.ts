import { expect, it } from 'vitest'
import { readCodecs } from './codecs.ts'

it('are the known codecs, in the order of the list', () => {
  expect(readCodecs('OPUS, g722,PCMU,AMR-WB,PCMU')).toEqual(['opus', 'G722', 'PCMU'])
  expect(readCodecs('G729')).toEqual([])
  expect(readCodecs('')).toEqual([])
})
