import { describe, expect, it } from 'vitest'
import { packetDuration } from './packet-duration.ts'

const opus = (...bytes: number[]) =>
  packetDuration('opus', Uint8Array.from([0, ...bytes]), 1, 1 + bytes.length)

describe('the duration of a payload', () => {
  it.each([
    ['one SILK frame of 60 ms', [3 << 3], 2880],
    ['one hybrid frame of 10 ms', [12 << 3], 480],
    ['two CELT frames of 20 ms', [(31 << 3) | 1], 1920],
    ['two CELT frames of 2.5 ms', [(28 << 3) | 2], 240],
    ['five frames of 20 ms', [(31 << 3) | 3, 5], 4800],
    ['48 frames of 2.5 ms', [(28 << 3) | 3, 48], 5760],
    ['63 frames of 60 ms, which there are not', [(3 << 3) | 3, 0xff], 5760],
    ['63 frames of 2.5 ms, which there are not', [(28 << 3) | 3, 63], 5760],
    ['a number of frames that is missing', [3], 0],
    ['nothing', [], 0],
  ])('of Opus, with %s', (_, bytes, units) => {
    expect(opus(...bytes)).toBe(units)
  })

  it('of the other codecs, by the byte', () => {
    const packet = new Uint8Array(332)
    expect(packetDuration('PCMU', packet, 12, 172)).toBe(160)
    expect(packetDuration('G722', packet, 12, 172)).toBe(160)
    expect(packetDuration('L16', packet, 12, 332)).toBe(160)
  })
})
