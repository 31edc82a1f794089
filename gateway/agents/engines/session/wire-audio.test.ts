import { describe, expect, it } from 'vitest'
import { isConvertible, linkRateOf, octetsPerSecondOf, WireDecoder, WireEncoder } from './wire-audio.ts'

const sine = (rate: number, ms: number): Int16Array =>
  Int16Array.from({ length: (rate * ms) / 1000 }, (_, i) => 8000 * Math.sin((2 * Math.PI * 400 * i) / rate))

describe('audio of engines', () => {
  it.each([
    ['pcmu', 8000, 8000],
    ['pcma', 8000, 8000],
    ['pcm16000', 16_000, 32_000],
    ['pcm24000', 48_000, 48_000],
  ] as const)('%s has a link of %i Hz and %i octets a second', (format, rate, octets) => {
    expect([linkRateOf(format), octetsPerSecondOf(format)]).toEqual([rate, octets])
  })

  it.each(['pcmu', 'pcma'] as const)('passes every value of %s through unchanged', (format) => {
    const decoder = new WireDecoder(format, 8000)
    const encoder = new WireEncoder(format, 8000)
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const again = encoder.encode(decoder.decode(all))
    // Mu-law has two zeros, of which the negative one becomes the positive one.
    expect([...again]).toEqual([...all].map((byte) => (format === 'pcmu' && byte === 0x7f ? 0xff : byte)))
  })

  it('keeps samples that are divided between two pieces', () => {
    const samples = sine(16_000, 20)
    const bytes = new WireEncoder('pcm16000', 16_000).encode(samples)
    const decoder = new WireDecoder('pcm16000', 16_000)
    const parts = [bytes.subarray(0, 101), bytes.subarray(101, 102), bytes.subarray(102)]
    expect(parts.flatMap((part) => [...decoder.decode(part)])).toEqual([...samples])
    decoder.decode(bytes.subarray(0, 1))
    decoder.reset()
    expect(decoder.decode(bytes)).toEqual(samples)
  })

  it('converts 48 kHz to 24 kHz and back, with the level of the sound', () => {
    const encoder = new WireEncoder('pcm24000', 48_000)
    const decoder = new WireDecoder('pcm24000', 48_000)
    const bytes = encoder.encode(sine(48_000, 200))
    expect(bytes).toHaveLength(200 * 48)
    const back = decoder.decode(bytes)
    expect(back).toHaveLength(200 * 48)
    expect(Math.max(...back.subarray(960))).toBeGreaterThan(7900)
  })

  it('knows formats that a link cannot carry', () => {
    expect([isConvertible('pcm24000', 16_000), isConvertible('pcm16000', 8000)]).toEqual([false, true])
  })
})
