import { describe, expect, it } from 'vitest'
import { wavHeader, wavHeaderBytes } from './wav-header.ts'

describe('the header of a WAV file', () => {
  it('has the rate, the channels and the length of PCM', () => {
    const header = wavHeader({ rate: 16_000, channels: 2 }, 1000)
    expect(header).toHaveLength(wavHeaderBytes)
    expect(header.toString('hex')).toBe(
      '524946460c04000057415645666d74201000000001000200803e000000fa00000400100064617461e8030000',
    )
  })

  it.each([
    ['PCMA', 6],
    ['PCMU', 7],
  ] as const)('has one byte a sample for %s', (coding, tag) => {
    const header = wavHeader({ coding, rate: 8000 }, 10)
    expect([20, 22, 32, 34].map((at) => header.readUInt16LE(at))).toEqual([tag, 1, 1, 8])
    expect([4, 24, 28, 40].map((at) => header.readUInt32LE(at))).toEqual([46, 8000, 8000, 10])
  })

  it('has the largest sizes while the length is unknown', () => {
    const header = wavHeader({ rate: 8000 })
    expect([4, 40].map((at) => header.readUInt32LE(at))).toEqual([0xffff_ffff, 0xffff_ffff])
  })
})
