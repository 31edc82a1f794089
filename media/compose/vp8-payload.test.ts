import { describe, expect, it } from 'vitest'
import { descriptorBytes, isKeyFrame, readVp8Descriptor, writeVp8Descriptor } from './vp8-payload.ts'

const read = (...bytes: number[]) => readVp8Descriptor(Uint8Array.from(bytes), 0, bytes.length)

describe('the descriptor of VP8 in RTP', () => {
  it.each([
    ['the short form', [0x10, 1], true, 1],
    ['a later part', [0x00, 1], false, 1],
    ['another partition', [0x11, 1], false, 1],
    ['a picture id of 7 bits', [0x90, 0x80, 0x7f, 1], true, 3],
    ['a picture id of 15 bits', [0x90, 0x80, 0x81, 0x02, 1], true, 4],
    ['all fields', [0x90, 0xf0, 0x81, 0x02, 3, 0x40, 1], true, 6],
    ['a key index alone', [0x90, 0x10, 5, 1], true, 3],
    ['a non-reference frame', [0x30, 1], true, 1],
  ])('is read: %s', (_name, bytes, isStart, start) => {
    expect(read(...bytes)).toEqual({ isStart, start })
  })

  it.each([
    [[]],
    [[0x10]],
    [[0x90]],
    [[0x90, 0x80]],
    [[0x90, 0x80, 0x81]],
    [[0x90, 0x80, 0x81, 1]],
    [[0x90, 0xf0, 1, 2]],
  ])('is rejected if nothing follows it: %j', (bytes) => {
    expect(read(...bytes)).toBeUndefined()
  })

  it('is written as it is read', () => {
    const packet = Buffer.alloc(2 + descriptorBytes + 1)
    writeVp8Descriptor(packet, 2, true, 0x7abc)
    expect(readVp8Descriptor(packet, 2, packet.length)).toEqual({ isStart: true, start: 2 + descriptorBytes })
    expect(packet.readUInt16BE(4)).toBe(0xfabc)
    writeVp8Descriptor(packet, 2, false, 1)
    expect(readVp8Descriptor(packet, 2, packet.length)?.isStart).toBe(false)
  })

  it('tells key frames by the first bit of a frame', () => {
    expect([isKeyFrame(Uint8Array.of(0x50)), isKeyFrame(Uint8Array.of(0x51))]).toEqual([true, false])
  })
})
