import { describe, expect, it } from 'vitest'
import { decodeL16, encodeL16 } from './l16.ts'

describe('L16', () => {
  it('has the most significant byte first', () => {
    const bytes = new Uint8Array(8)
    expect(encodeL16(Int16Array.of(9, 0x1234, -2, -32768, 32767), 1, 4, bytes, 0)).toBe(8)
    expect(Buffer.from(bytes).toString('hex')).toBe('1234fffe80007fff')
  })

  it('restores encoded samples, from the middle of a packet', () => {
    const samples = Int16Array.from({ length: 1000 }, (_, i) => i * 65 - 32768)
    const packet = new Uint8Array(12 + 2000)
    encodeL16(samples, 0, 1000, packet, 12)
    const out = new Int16Array(1000)
    expect(decodeL16(packet, 12, packet.length, out)).toBe(1000)
    expect(out).toEqual(samples)
  })

  it('rejects half a sample', () => {
    expect(decodeL16(new Uint8Array(5), 0, 5, new Int16Array(4))).toBe(-1)
  })
})
