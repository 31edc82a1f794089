import { describe, expect, it } from 'vitest'
import { mpegFrames } from './mp3-frames.ts'
import { floatSine, mp3File } from './testing/audio-files.ts'

/** Returns a frame of zeros after the header. */
const frame = (header: readonly number[], length: number) => {
  const bytes = Buffer.alloc(length)
  bytes.set(header)
  return bytes
}
const lengthsOf = (bytes: Uint8Array) => [...mpegFrames(bytes)].map(({ data }) => data.length)
/** Version 1, layer III, 128 kbit/s, 44,100 Hz; without and with padding. */
const plain = frame([0xff, 0xfb, 0x90], 417)
const padded = frame([0xff, 0xfb, 0x92], 418)

describe('frames of MPEG audio', () => {
  // Lengths by the formulas of ISO 11172-3 section 2.4.3.1.
  it.each([
    ['version 1, layer III', [0xff, 0xfb, 0x90], 417, 44_100, 1152],
    ['version 1, layer III with the least', [0xff, 0xfb, 0x14], 96, 48_000, 1152],
    ['version 1, layer II', [0xff, 0xfd, 0xe8], 1728, 32_000, 1152],
    ['version 1, layer I, padded', [0xff, 0xff, 0x12], 36, 44_100, 384],
    ['version 2, layer III', [0xff, 0xf3, 0x88], 288, 16_000, 576],
    ['version 2, layer II', [0xff, 0xf5, 0x84], 384, 24_000, 1152],
    ['version 2, layer I', [0xff, 0xf7, 0x14], 64, 24_000, 384],
    ['version 2.5, layer III', [0xff, 0xe3, 0x88], 576, 8000, 576],
  ])('of %s have the length in their header', (_name, header, length, rate, samples) => {
    const one = frame(header, length)
    expect([...mpegFrames(Buffer.concat([one, one, one]))]).toEqual(
      Array.from({ length: 3 }, () => ({ data: one, rate, samples })),
    )
  })

  it('are all frames of an encoder', async () => {
    const file = await mp3File([floatSine(1000, 1, 44_100)], 44_100)
    expect(lengthsOf(file).reduce((sum, length) => sum + length, 0)).toBe(file.length)
  })

  it('are found after a tag, before one, and around damage', () => {
    const tag = Buffer.concat([Buffer.from('ID3\x04\0\x10\0\0\x01\x00'), Buffer.alloc(128 + 10, 0xff)])
    const end = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)])
    expect(lengthsOf(Buffer.concat([tag, plain, padded, plain, end]))).toEqual([417, 418, 417])
    const damage = Buffer.concat([Buffer.alloc(300, 0x55), Buffer.from([0xff, 0xfb, 0x90]), Buffer.alloc(50)])
    expect(lengthsOf(Buffer.concat([plain, plain, damage, plain, padded]))).toEqual([417, 417, 417, 418])
  })

  it('are of one kind, and complete', () => {
    const other = frame([0xff, 0xf3, 0x88], 288)
    expect(lengthsOf(Buffer.concat([plain, plain, other, other, plain]))).toEqual([417, 417, 417])
    expect(lengthsOf(Buffer.concat([plain, plain.subarray(0, 416)]))).toEqual([417])
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['ones', Buffer.alloc(5000, 0xff)],
    ['a tag that goes on for ever', Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f....')],
    ['a reserved version', Buffer.concat([frame([0xff, 0xeb, 0x90], 417), frame([0xff, 0xeb, 0x90], 417)])],
    ['a reserved layer', Buffer.concat([frame([0xff, 0xf9, 0x90], 417), frame([0xff, 0xf9, 0x90], 417)])],
    ['a reserved rate', Buffer.concat([frame([0xff, 0xfb, 0x9c], 417), frame([0xff, 0xfb, 0x9c], 417)])],
    ['free format', Buffer.concat([frame([0xff, 0xfb, 0x00], 417), frame([0xff, 0xfb, 0x00], 417)])],
    ['one header by itself', frame([0xff, 0xfb, 0x90], 1000)],
  ])('are not found in %s', (_name, bytes) => {
    expect(lengthsOf(bytes)).toEqual([])
  })
})
