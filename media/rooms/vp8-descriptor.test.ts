import { describe, expect, it } from 'vitest'
import { framePart, isKeyFrame, readVp8, vp8DescriptorBytes, vp8View, writeVp8 } from './vp8-descriptor.ts'

const read = (...bytes: number[]) => {
  const view = vp8View()
  if (!readVp8(Buffer.from(bytes), 0, bytes.length, view)) return undefined
  const { isFrameStart, isKeyFrameStart, start } = view
  return { isFrameStart, isKeyFrameStart, start }
}

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
  ])('is read: %s', (_name, bytes, isFrameStart, start) => {
    expect(read(...bytes)).toEqual({ isFrameStart, isKeyFrameStart: false, start })
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

  it('shows the start of a key frame by the first bit of the frame', () => {
    expect([isKeyFrame(Uint8Array.of(0x50)), isKeyFrame(Uint8Array.of(0x51))]).toEqual([true, false])
    expect(read(0x10, 0x50)?.isKeyFrameStart).toBe(true)
    expect(read(0x00, 0x50)?.isKeyFrameStart).toBe(false)
  })

  it('is written as it is read', () => {
    const view = vp8View()
    for (const isStart of [true, false]) {
      const part = framePart(0x7abc, isStart)
      const packet = Buffer.alloc(2 + vp8DescriptorBytes(part) + 1)
      writeVp8(packet, 2, part)
      expect(readVp8(packet, 2, packet.length, view)).toBe(true)
      expect(view).toMatchObject({ isFrameStart: isStart, pictureId: 0x7abc, start: 6 })
    }
  })
})
