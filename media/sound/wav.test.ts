import { describe, expect, it } from 'vitest'
import { encode } from '../codecs/g711.ts'
import { readWav as read } from './wav.ts'

const readWav = (bytes: Uint8Array) => read(bytes, 60)
const text = (value: string) => Buffer.from(value, 'latin1')
const u16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer)
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const chunk = (name: string, body: Uint8Array, said = body.length) =>
  Buffer.concat([text(name), u32(said), body, Buffer.alloc(body.length % 2)])
const riff = (...chunks: Uint8Array[]) => {
  const body = Buffer.concat(chunks)
  return Buffer.concat([text('RIFF'), u32(body.length + 4), text('WAVE'), body])
}
const fmt = (format: number, bits: number, { channels = 1, rate = 8000, extra = Buffer.alloc(0) } = {}) => {
  const align = (channels * bits) / 8
  return chunk(
    'fmt ',
    Buffer.concat([u16(format), u16(channels), u32(rate), u32(rate * align), u16(align), u16(bits), extra]),
  )
}
const wav = (format: Buffer, data: Uint8Array) => riff(format, chunk('data', data))

const values = [0, 0.5, -0.5, 0.25, -1]
const bytesOf = (write: (buffer: Buffer, value: number, index: number) => void, size: number) => {
  const buffer = Buffer.alloc(values.length * size)
  for (const [index, value] of values.entries()) write(buffer, value, index * size)
  return buffer
}
const int16 = bytesOf((b, v, at) => b.writeInt16LE(v * 32_768, at), 2)

const formats: [string, Buffer, Buffer, number][] = [
  ['8-bit PCM', fmt(1, 8), bytesOf((b, v, at) => b.writeUInt8(Math.round(v * 128) + 128, at), 1), 5],
  ['16-bit PCM', fmt(1, 16), int16, 5],
  ['24-bit PCM', fmt(1, 24), bytesOf((b, v, at) => b.writeIntLE(v * 8_388_608, at, 3), 3), 5],
  ['32-bit PCM', fmt(1, 32), bytesOf((b, v, at) => b.writeInt32LE(v * 2_147_483_648, at), 4), 5],
  ['32-bit float', fmt(3, 32), bytesOf((b, v, at) => b.writeFloatLE(v, at), 4), 5],
  ['64-bit float', fmt(3, 64), bytesOf((b, v, at) => b.writeDoubleLE(v, at), 8), 5],
  [
    'A-law',
    fmt(6, 8),
    Buffer.from(
      encode(
        'PCMA',
        Int16Array.from(values, (v) => v * 32_767),
      ),
    ),
    1,
  ],
  [
    'mu-law',
    fmt(7, 8),
    Buffer.from(
      encode(
        'PCMU',
        Int16Array.from(values, (v) => v * 32_767),
      ),
    ),
    1,
  ],
]

describe('WAV', () => {
  it.each(formats)('reads %s', (_name, format, data, digits) => {
    const { rate, samples } = readWav(wav(format, data))
    expect(rate).toBe(8000)
    expect(samples.length).toBe(values.length)
    for (const [index, value] of values.entries()) expect(samples[index]).toBeCloseTo(value, digits)
  })

  it('reads the extensible form', () => {
    const guid = Buffer.from('0100000000001000800000aa00389b71', 'hex')
    const extra = Buffer.concat([u16(22), u16(16), u32(0), guid])
    const { samples } = readWav(wav(fmt(0xfffe, 16, { extra }), int16))
    expect(samples[1]).toBeCloseTo(0.5)
    const other = Buffer.concat([u16(22), u16(16), u32(0), Buffer.alloc(16, 7)])
    expect(() => readWav(wav(fmt(0xfffe, 16, { extra: other }), int16))).toThrow('sub-format')
  })

  it('mixes stereo down', () => {
    const data = Buffer.from(Int16Array.of(16_384, 0, -16_384, -16_384).buffer)
    const { samples } = readWav(wav(fmt(1, 16, { channels: 2, rate: 44_100 }), data))
    expect([...samples]).toEqual([0.25, -0.5])
  })

  it('ignores other chunks, also of odd length, and accepts an open end', () => {
    const list = chunk('LIST', Buffer.from('abc'))
    const open = chunk('data', int16, 0xffff_ffff)
    const { samples } = readWav(riff(list, fmt(1, 16), list, open))
    expect(samples.length).toBe(values.length)
  })

  it('treats a non-finite float as silence', () => {
    const data = Buffer.from(Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY).buffer)
    expect([...readWav(wav(fmt(3, 32), data)).samples]).toEqual([0, 0])
  })

  it('reads from the middle of a larger buffer', () => {
    const file = wav(fmt(1, 16), int16)
    const larger = Buffer.concat([Buffer.alloc(3), file])
    expect(readWav(larger.subarray(3)).samples[1]).toBeCloseTo(0.5)
  })

  const wrong: [string, Uint8Array, string][] = [
    ['an empty file', Buffer.alloc(0), 'header of 12 bytes'],
    ['another file', text('<html><body>not found</body></html>'), 'RIFF and WAVE'],
    ['no fmt chunk', riff(chunk('LIST', int16)), 'a fmt chunk expected'],
    ['data before fmt', riff(chunk('data', int16), fmt(1, 16)), 'before the data chunk'],
    ['no data chunk', riff(fmt(1, 16)), 'a data chunk expected'],
    ['no data', riff(fmt(1, 16), chunk('data', Buffer.alloc(0))), 'is empty'],
    ['a truncated data chunk', riff(fmt(1, 16), chunk('data', int16, 4000)), 'says 4000 bytes, 10 are there'],
    ['half a sample', wav(fmt(1, 16), Buffer.alloc(3)), 'no multiple of 2'],
    ['a short fmt chunk', riff(chunk('fmt ', Buffer.alloc(8)), chunk('data', int16)), '16 bytes or more'],
    ['three channels', wav(fmt(1, 16, { channels: 3 }), Buffer.alloc(6)), '1 or 2 channels'],
    ['a low rate', wav(fmt(1, 16, { rate: 4000 }), int16), 'found 4000'],
    ['a high rate', wav(fmt(1, 16, { rate: 96_000 }), int16), 'found 96000'],
    ['12 bits', wav(fmt(1, 12), int16), 'format 1 with 12 bits'],
    ['ADPCM', wav(fmt(2, 4), int16), 'found 2'],
    ['MP3', wav(fmt(0x55, 16), int16), 'found 85'],
    ['GSM', wav(fmt(49, 0), int16), 'found 49 (GSM 06.10)'],
    [
      'a wrong block size',
      wav(Buffer.concat([fmt(1, 16).subarray(0, 20), u16(4), u16(16)]), int16),
      'block of 2 bytes',
    ],
  ]
  it.each(wrong)('rejects %s', (_name, bytes, message) => {
    expect(() => readWav(bytes)).toThrow(message)
  })

  it('rejects long audio', () => {
    const file = wav(fmt(1, 16), Buffer.alloc(32_000))
    expect(() => read(file, 1.9)).toThrow('WAV: at most 1.9 s expected')
    expect(read(file, 2).samples.length).toBe(16_000)
  })

  it('never fails otherwise, with any truncation', () => {
    const file = wav(fmt(1, 16), int16)
    for (let length = 0; length < file.length; length++) {
      expect(() => readWav(file.subarray(0, length))).toThrow(/^WAV: /)
    }
  })
})
