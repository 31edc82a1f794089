import { describe, expect, it } from 'vitest'
import { encode } from '../codecs/g711.ts'
import { readAiff as read } from './aiff.ts'
import { extendedRate } from './testing/audio-files.ts'

const readAiff = (bytes: Uint8Array) => read(bytes, 60)
const text = (value: string) => Buffer.from(value, 'latin1')
const u16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer).swap16()
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer).swap32()
const chunk = (name: string, body: Uint8Array, said = body.length) =>
  Buffer.concat([text(name), u32(said), body, Buffer.alloc(body.length % 2)])
const form = (kind: string, ...chunks: Uint8Array[]) => {
  const body = Buffer.concat(chunks)
  return Buffer.concat([text('FORM'), u32(body.length + 4), text(kind), body])
}
const ssnd = (data: Uint8Array, offset = 0) =>
  chunk('SSND', Buffer.concat([u32(offset), u32(0), Buffer.alloc(offset, 0x55), data]))

const values = [0, 0.5, -0.5, 0.25, -1]
const comm = (bits: number, { coding = '', channels = 1, frames = values.length, rate = 8000 } = {}) =>
  chunk(
    'COMM',
    Buffer.concat([
      u16(channels),
      u32(frames),
      u16(bits),
      extendedRate(rate),
      text(coding && `${coding}\x03abc`),
    ]),
  )
const bytesOf = (write: (buffer: Buffer, value: number, index: number) => void, size: number) => {
  const buffer = Buffer.alloc(values.length * size)
  for (const [index, value] of values.entries()) write(buffer, value, index * size)
  return buffer
}
const int16 = bytesOf((b, v, at) => b.writeInt16BE(v * 32_768, at), 2)
const law = (name: 'PCMU' | 'PCMA') =>
  Buffer.from(
    encode(
      name,
      Int16Array.from(values, (v) => v * 32_767),
    ),
  )
const int24 = bytesOf((b, v, at) => b.writeIntBE(v * 8_388_608, at, 3), 3)
const float32 = bytesOf((b, v, at) => b.writeFloatBE(v, at), 4)

const formats: [string, string, Buffer, Buffer, number][] = [
  ['8-bit PCM', 'AIFF', comm(8), bytesOf((b, v, at) => b.writeInt8(v * 128, at), 1), 5],
  ['12-bit PCM in 16', 'AIFF', comm(12), int16, 5],
  ['16-bit PCM', 'AIFF', comm(16), int16, 5],
  ['24-bit PCM', 'AIFF', comm(24), int24, 5],
  ['32-bit PCM', 'AIFF', comm(32), bytesOf((b, v, at) => b.writeInt32BE(v * 2_147_483_648, at), 4), 5],
  ['PCM of an AIFF-C', 'AIFC', comm(16, { coding: 'NONE' }), int16, 5],
  ['twos', 'AIFC', comm(16, { coding: 'twos' }), int16, 5],
  ['sowt', 'AIFC', comm(16, { coding: 'sowt' }), Buffer.from(int16).swap16(), 5],
  ['sowt of another writer', 'AIFC', comm(16, { coding: 'SOWT' }), Buffer.from(int16).swap16(), 5],
  [
    '24-bit sowt',
    'AIFC',
    comm(24, { coding: 'sowt' }),
    bytesOf((b, v, at) => b.writeIntLE(v * 8_388_608, at, 3), 3),
    5,
  ],
  ['32-bit float', 'AIFC', comm(32, { coding: 'fl32' }), float32, 5],
  ['64-bit float', 'AIFC', comm(64, { coding: 'FL64' }), bytesOf((b, v, at) => b.writeDoubleBE(v, at), 8), 5],
  ['A-law', 'AIFC', comm(16, { coding: 'alaw' }), law('PCMA'), 1],
  ['mu-law', 'AIFC', comm(8, { coding: 'ulaw' }), law('PCMU'), 1],
  ['mu-law of another writer', 'AIFC', comm(16, { coding: 'ULAW' }), law('PCMU'), 1],
]

describe('AIFF', () => {
  it.each(formats)('reads %s', (_name, kind, common, data, digits) => {
    const { rate, samples } = readAiff(form(kind, common, ssnd(data)))
    expect(rate).toBe(8000)
    expect(samples.length).toBe(values.length)
    for (const [index, value] of values.entries()) expect(samples[index]).toBeCloseTo(value, digits)
  })

  it('mixes stereo down, at any rate', () => {
    const data = Buffer.from(Int16Array.of(16_384, 0, -16_384, -16_384).buffer).swap16()
    const { samples, rate } = readAiff(
      form('AIFF', comm(16, { channels: 2, frames: 2, rate: 44_100 }), ssnd(data)),
    )
    expect([...samples, rate]).toEqual([0.25, -0.5, 44_100])
  })

  it('rounds the rate, since old Macintosh files have fractional ones', () => {
    const file = form('AIFF', comm(16, { rate: 22_254.545 }), ssnd(int16))
    expect(readAiff(file).rate).toBe(22_255)
  })

  it('ignores other chunks, also of odd length, and accepts any order and an offset of the samples', () => {
    const name = chunk('NAME', Buffer.from('abc'))
    const { samples } = readAiff(form('AIFF', name, ssnd(int16, 5), name, comm(16)))
    expect([...samples]).toEqual(values)
  })

  it('reads from the middle of a larger buffer', () => {
    const larger = Buffer.concat([Buffer.alloc(3), form('AIFF', comm(16), ssnd(int16))])
    expect(readAiff(larger.subarray(3)).samples[1]).toBeCloseTo(0.5)
  })

  const wrong: [string, Uint8Array, string][] = [
    ['an empty file', Buffer.alloc(0), 'header of 12 bytes'],
    ['another FORM', form('ILBM', comm(16), ssnd(int16)), 'AIFF or AIFC'],
    ['no COMM chunk', form('AIFF', ssnd(int16)), 'a COMM chunk expected'],
    ['no SSND chunk', form('AIFF', comm(16)), 'a SSND chunk expected'],
    ['a short COMM chunk', form('AIFF', chunk('COMM', Buffer.alloc(8)), ssnd(int16)), '18 bytes or more'],
    ['a short SSND chunk', form('AIFF', comm(16), chunk('SSND', Buffer.alloc(4))), '8 bytes or more'],
    ['no samples', form('AIFF', comm(16, { frames: 0 }), ssnd(int16)), 'no samples'],
    [
      'too few samples',
      form('AIFF', comm(16, { frames: 6 }), ssnd(int16)),
      'says 12 bytes of samples, 10 are there',
    ],
    ['an offset beyond the end', form('AIFF', comm(16), chunk('SSND', Buffer.alloc(8, 0xff))), '0 are there'],
    [
      'a truncated chunk',
      form('AIFF', comm(16), chunk('SSND', int16, 4000)),
      'says 4000 bytes, 10 are there',
    ],
    ['three channels', form('AIFF', comm(16, { channels: 3, frames: 1 }), ssnd(int16)), '1 or 2 channels'],
    ['a low rate', form('AIFF', comm(16, { rate: 4000 }), ssnd(int16)), 'found 4000'],
    ['a high rate', form('AIFF', comm(16, { rate: 96_000 }), ssnd(int16)), 'found 96000'],
    ['no rate', form('AIFF', chunk('COMM', Buffer.alloc(18, 1)), ssnd(int16)), '1 or 2 channels'],
    ['no bits', form('AIFF', comm(0), ssnd(int16)), '1 to 32 bits'],
    ['40 bits', form('AIFF', comm(40), ssnd(int16)), '1 to 32 bits'],
    ['another coding', form('AIFC', comm(16, { coding: 'MAC3' }), ssnd(int16)), 'found "MAC3"'],
  ]
  it.each(wrong)('rejects %s', (_name, bytes, message) => {
    expect(() => readAiff(bytes)).toThrow(message)
  })

  it('rejects an invalid rate', () => {
    const common = comm(16)
    common.fill(0xff, 16, 26)
    expect(() => readAiff(form('AIFF', common, ssnd(int16)))).toThrow('found NaN')
  })

  it('rejects long audio', () => {
    const file = form('AIFF', comm(16, { frames: 16_000 }), ssnd(Buffer.alloc(32_000)))
    expect(() => read(file, 1.9)).toThrow('AIFF: at most 1.9 s expected')
    expect(read(file, 2).samples.length).toBe(16_000)
  })

  it('never fails otherwise, with any truncation or damage', () => {
    const file = form('AIFC', comm(16, { coding: 'sowt' }), ssnd(int16))
    for (let at = 0; at < file.length; at++) {
      expect(() => readAiff(file.subarray(0, at))).toThrow(/^AIFF: /)
      for (const value of [0, 0x7f, 0xff]) {
        const damaged = Buffer.from(file)
        damaged[at] = value
        try {
          readAiff(damaged)
        } catch (error) {
          expect((error as Error).message).toMatch(/^AIFF: /)
        }
      }
    }
  })
})
