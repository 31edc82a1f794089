import { describe, expect, it } from 'vitest'
import { IvfReader } from './ivf-reader.ts'
import { ivfFrame, ivfHeader } from './testing/fake-ffmpeg.ts'

const framesOf = (reader: IvfReader, chunk: Buffer) =>
  reader.push(chunk).map(({ atMs, data }) => [atMs, data.toString()])

describe('a stream of IVF', () => {
  const stream = Buffer.concat([ivfHeader(25), ivfFrame(0, 'key'), ivfFrame(2, 'delta'), ivfFrame(3, '')])
  const frames = [
    [0, 'key'],
    [80, 'delta'],
    [120, ''],
  ]

  it('is read in chunks of any length', () => {
    expect(framesOf(new IvfReader(), stream)).toEqual(frames)
    for (const length of [1, 7, 33]) {
      const reader = new IvfReader()
      const found = []
      for (let at = 0; at < stream.length; at += length)
        found.push(...framesOf(reader, stream.subarray(at, at + length)))
      expect(found).toEqual(frames)
    }
  })

  it('has VP8, a rate, and frames of a bounded length', () => {
    const h264 = ivfHeader(25)
    h264.write('H264', 8)
    expect(() => new IvfReader().push(h264)).toThrow('VP8 expected')
    expect(() => new IvfReader().push(ivfHeader(0))).toThrow('VP8 expected')
    const huge = Buffer.alloc(12, 0xff)
    expect(() => new IvfReader().push(Buffer.concat([ivfHeader(25), huge]))).toThrow('at most')
  })
})
