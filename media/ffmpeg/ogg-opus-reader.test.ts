import { describe, expect, it } from 'vitest'
import { OggOpusReader } from './ogg-opus-reader.ts'
import { opusPages } from './testing/fake-ffmpeg.ts'

const textsOf = (reader: OggOpusReader, chunk: Buffer) =>
  reader.push(chunk).map((packet) => Buffer.from(packet).toString())

describe('a stream of Opus in Ogg', () => {
  const stream = opusPages(['OpusHead...', 'OpusTags...', 'one', 'x'.repeat(600), 'three'])
  const packets = ['one', 'x'.repeat(600), 'three']

  it('is read in chunks of any length, without its headers', () => {
    for (const length of [1, 100, stream.length]) {
      const reader = new OggOpusReader()
      const found = []
      for (let at = 0; at < stream.length; at += length)
        found.push(...textsOf(reader, stream.subarray(at, at + length)))
      expect(found).toEqual(packets)
    }
  })

  it('consists of pages', () => {
    expect(() => new OggOpusReader().push(Buffer.alloc(100, 'x'))).toThrow('a page expected')
  })
})
