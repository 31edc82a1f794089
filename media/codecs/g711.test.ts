import { describe, expect, it } from 'vitest'
import { convertInPlace, decode, encode, type G711, silenceByte } from './g711.ts'

/**
 * ITU-T G.711 tables 1a and 2a at the ends of segments: decision value below, character signal, decoder
 * output.
 */
const alaw = [
  { from: 0, bits: 0b10000000, out: 1 },
  { from: 32, bits: 0b10010000, out: 33 },
  { from: 64, bits: 0b10100000, out: 66 },
  { from: 128, bits: 0b10110000, out: 132 },
  { from: 256, bits: 0b11000000, out: 264 },
  { from: 512, bits: 0b11010000, out: 528 },
  { from: 1024, bits: 0b11100000, out: 1056 },
  { from: 2048, bits: 0b11110000, out: 2112 },
  { from: 3968, bits: 0b11111111, out: 4032 },
]
const mulaw = [
  { from: 0, bits: 0b11111111, out: 0 },
  { from: 1, bits: 0b11111110, out: 2 },
  { from: 31, bits: 0b11101111, out: 33 },
  { from: 95, bits: 0b11011111, out: 99 },
  { from: 223, bits: 0b11001111, out: 231 },
  { from: 479, bits: 0b10111111, out: 495 },
  { from: 991, bits: 0b10101111, out: 1023 },
  { from: 2015, bits: 0b10011111, out: 2079 },
  { from: 4063, bits: 0b10001111, out: 4191 },
  { from: 7903, bits: 0b10000000, out: 8031 },
]
/** G.711 tables 3 and 4 (positive half), one number per step from the zero crossing. */
const table3 = [
  1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
  24, 25, 27, 29, 31, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 46, 48, 49, 50, 51, 52, 53, 54, 55, 56,
  57, 58, 59, 60, 61, 62, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 82,
]
const table4 = [
  1, 3, 5, 7, 9, 11, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 32, 33, 33,
  34, 34, 35, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 48, 49, 49, 50, 51, 52, 53, 54, 55, 56,
  57, 58, 59, 60, 61, 62, 63, 64, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 80, 81,
]
const all = Uint8Array.from({ length: 256 }, (_, i) => i)
const one = (law: G711, sample: number) => encode(law, Int16Array.of(sample))[0]!

describe('G.711', () => {
  it.each(alaw)('A-law follows table 1a at decision value $from', ({ from, bits, out }) => {
    expect(one('PCMA', from * 8)).toBe(bits ^ 0x55)
    expect(one('PCMA', -from * 8 - 1)).toBe(bits ^ 0x80 ^ 0x55)
    expect([...decode('PCMA', Uint8Array.of(bits ^ 0x55, bits ^ 0x80 ^ 0x55))]).toEqual([out * 8, -out * 8])
  })

  it.each(mulaw)('mu-law follows table 2a at decision value $from', ({ from, bits, out }) => {
    expect(one('PCMU', from * 4)).toBe(bits)
    expect(one('PCMU', -from * 4 - 1)).toBe(bits ^ 0x80)
    expect(decode('PCMU', Uint8Array.of(bits))[0]).toBe(out * 4)
  })

  it.each(['PCMU', 'PCMA'] as const)('%s encodes every byte that it decoded to the same byte', (law) => {
    const back = encode(law, decode(law, all))
    // Mu-law has two zeros; the negative one becomes the positive one.
    expect([...back].filter((byte, i) => byte !== i)).toEqual(law === 'PCMU' ? [0xff] : [])
  })

  it.each(['PCMU', 'PCMA'] as const)('%s clips the loudest samples without wrapping', (law) => {
    const [low, high] = decode(law, encode(law, Int16Array.of(-32768, 32767)))
    expect(low).toBeLessThan(-32000)
    expect(high).toBeGreaterThan(32000)
  })

  it.each(['PCMU', 'PCMA'] as const)('%s has an error of at most half a step', (law) => {
    for (let sample = -32000; sample <= 32000; sample += 7) {
      const [got] = decode(law, encode(law, Int16Array.of(sample)))
      expect(Math.abs(got! - sample)).toBeLessThanOrEqual((Math.abs(sample) + 132) / 32 + 4)
    }
  })

  it('converts mu-law to A-law by table 3, with both signs', () => {
    const numbers = [...table3, ...Array.from({ length: 46 }, (_, i) => i + 83)]
    for (const sign of [0x80, 0]) {
      const bytes = Uint8Array.from(numbers, (_, step) => sign | (step ^ 0x7f))
      convertInPlace('PCMU', bytes, 0, bytes.length)
      expect([...bytes].map((byte) => ((byte ^ 0x55) & 0x7f) + 1)).toEqual(numbers)
      expect([...bytes].every((byte) => (byte & 0x80) === sign)).toBe(true)
    }
  })

  it('converts A-law to mu-law by table 4, with both signs', () => {
    const numbers = [...table4, ...Array.from({ length: 46 }, (_, i) => i + 82)]
    for (const sign of [0x80, 0]) {
      const bytes = Uint8Array.from(numbers, (_, step) => (sign | step) ^ 0x55)
      convertInPlace('PCMA', bytes, 0, bytes.length)
      expect([...bytes].map((byte) => ~byte & 0x7f)).toEqual(numbers)
      expect([...bytes].every((byte) => (byte & 0x80) === sign)).toBe(true)
    }
  })

  it('converts only the requested range', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4)
    convertInPlace('PCMU', bytes, 1, 3)
    expect([bytes[0], bytes[3]]).toEqual([1, 4])
    expect(bytes[1]).not.toBe(2)
  })

  it('has a silence byte that decodes to at most the smallest step', () => {
    expect(decode('PCMU', Uint8Array.of(silenceByte.PCMU))[0]).toBe(0)
    expect(decode('PCMA', Uint8Array.of(silenceByte.PCMA))[0]).toBe(8)
  })
})
