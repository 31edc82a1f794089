import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameAssembler } from './frame-assembler.ts'
import { Vp8Packetizer } from './vp8-packetizer.ts'

const ssrc = 0x12345678

/** Returns a frame of a length, with its number as content. The first bit is that of its kind. */
const frameOf = (number: number, length: number, isKey = false): Buffer => {
  const frame = Buffer.alloc(length, number & 0xff)
  frame[0] = isKey ? 0x10 : 0x11
  return frame
}

const stream = (sequence = 65_530) => {
  const packetizer = new Vp8Packetizer({
    ssrc,
    payloadType: 96,
    cname: 'c',
    sequence,
    timestamp: 0xffff_f000,
    pictureId: 0x7ffe,
  })
  let at = 0
  return (frame: Buffer) => packetizer.packetize(frame, 3000 * at++)
}

const receiver = () => {
  const frames: Buffer[] = []
  const requests: number[] = []
  const assembler = new FrameAssembler({
    ssrc,
    payloadType: 96,
    onFrame: (frame) => frames.push(Buffer.from(frame)),
    onKeyNeeded: (now) => requests.push(now),
  })
  return { assembler, frames, requests }
}

describe('the assembly of frames', () => {
  it('puts frames together in their order, over a wrap of numbers and timestamps', () => {
    const { assembler, frames, requests } = receiver()
    const packetize = stream()
    const sent = Array.from({ length: 20 }, (_, i) => frameOf(i, 1 + i * 500, i === 0))
    for (const packet of sent.flatMap(packetize)) assembler.receive(0, packet)
    expect(frames).toEqual(sent)
    expect(requests).toEqual([])
    expect(assembler.waiting).toBe(0)
  })

  it('mends any order and any duplicates within its window', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 5 })),
        (lengths, shifts) => {
          const { assembler, frames } = receiver()
          const packetize = stream()
          const sent = lengths.map((length, i) => frameOf(i, length, i === 0))
          const [first, ...rest] = sent.flatMap(packetize)
          const shifted = rest
            .flatMap((packet) => [packet, packet])
            .map((packet, at) => ({ packet, at: at + shifts.next().value }))
            .sort((a, b) => a.at - b.at)
          // The position of the stream is that of its first packet.
          assembler.receive(0, first!)
          for (const { packet } of shifted) assembler.receive(0, packet)
          expect(frames).toEqual(sent)
        },
      ),
    )
  })

  it('waits 80 ms for a missing packet, and then for a key frame', () => {
    const { assembler, frames, requests } = receiver()
    const packetize = stream()
    const key = packetize(frameOf(0, 100, true))
    const lost = packetize(frameOf(1, 100))
    const later = packetize(frameOf(2, 100))
    const key2 = packetize(frameOf(3, 100, true))
    const last = packetize(frameOf(4, 100))
    for (const packet of key) assembler.receive(0, packet)
    for (const packet of later) assembler.receive(10, packet)
    assembler.tick(89)
    expect(requests).toEqual([])
    assembler.tick(90)
    expect(requests).toEqual([90])
    expect(frames).toHaveLength(1)
    // The missing packet comes too late.
    for (const packet of lost) assembler.receive(95, packet)
    expect(frames).toHaveLength(1)
    for (const packet of [...key2, ...last]) assembler.receive(100, packet)
    expect(frames.map((frame) => frame[1])).toEqual([0, 3, 4])
    expect(assembler.waiting).toBe(0)
  })

  it('accepts a missing packet before the 80 ms are over', () => {
    const { assembler, frames, requests } = receiver()
    const packetize = stream()
    const key = packetize(frameOf(0, 100, true))
    const late = packetize(frameOf(1, 100))
    const later = packetize(frameOf(2, 100))
    for (const packet of [...key, ...later]) assembler.receive(0, packet)
    for (const packet of late) assembler.receive(79, packet)
    assembler.tick(1000)
    expect(frames.map((frame) => frame[1])).toEqual([0, 1, 2])
    expect(requests).toEqual([])
  })

  it('asks for a key frame until the first one comes', () => {
    const { assembler, frames, requests } = receiver()
    const packetize = stream()
    for (const packet of packetize(frameOf(1, 2000))) assembler.receive(5, packet)
    expect(requests).toEqual([5, 5])
    for (const packet of packetize(frameOf(2, 100, true))) assembler.receive(6, packet)
    expect(frames).toHaveLength(1)
    expect(requests).toEqual([5, 5])
  })

  it('follows a source to another position after two packets in a row there', () => {
    const { assembler, frames, requests } = receiver()
    for (const packet of stream(100)(frameOf(0, 100, true))) assembler.receive(0, packet)
    const elsewhere = stream(30_000)
    for (const packet of elsewhere(frameOf(1, 100))) assembler.receive(1, packet)
    expect(requests).toEqual([])
    for (const packet of elsewhere(frameOf(2, 100))) assembler.receive(2, packet)
    expect(requests).toEqual([2])
    for (const packet of elsewhere(frameOf(3, 100, true))) assembler.receive(3, packet)
    expect(frames.map((frame) => frame[1])).toEqual([0, 3])
  })

  it('ignores other streams and malformed packets', () => {
    const { assembler, frames, requests } = receiver()
    const [packet] = stream()(frameOf(0, 100, true))
    const other = Buffer.from(packet!)
    other.writeUInt32BE(1, 8)
    const otherType = Buffer.from(packet!)
    otherType[1] = 97
    for (const each of [other, otherType, Buffer.alloc(3), Buffer.alloc(0)]) assembler.receive(0, each)
    expect([frames.length, requests.length, assembler.waiting]).toEqual([0, 0, 0])
  })

  it('accepts padding between frames', () => {
    const { assembler, frames } = receiver()
    const packetize = stream(10)
    const [first] = packetize(frameOf(0, 100, true))
    const [second] = packetize(frameOf(1, 100))
    const padding = Buffer.from(second!.subarray(0, 12))
    second!.writeUInt16BE(12, 2)
    for (const packet of [first!, padding, second!]) assembler.receive(0, packet)
    expect(frames).toHaveLength(2)
  })

  it('gives up a frame of more than a MiB, or of more than 2048 packets, and keeps little', () => {
    for (const [length, count] of [
      [1000, 1100],
      [1, 2100],
    ] as const) {
      const { assembler, frames, requests } = receiver()
      const packetize = stream(0)
      const [first] = packetize(frameOf(0, length, true))
      first![1] = 96
      assembler.receive(0, first!)
      for (let sequence = 1; sequence < count; sequence++) {
        const part = Buffer.from(first!)
        part[12] = 0x80
        part.writeUInt16BE(sequence, 2)
        assembler.receive(0, part)
      }
      expect(requests.length).toBeGreaterThan(0)
      expect(frames).toEqual([])
      expect(assembler.waiting).toBe(0)
    }
  })

  it('survives any packets with the header of its stream, with bounded memory', () => {
    const bytes = fc.uint8Array({ minLength: 0, maxLength: 40 })
    const packet = fc.tuple(fc.integer({ min: 0, max: 0xffff }), fc.boolean(), bytes)
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 200 }), (packets) => {
        const { assembler } = receiver()
        for (const [at, [sequence, isMarked, payload]] of packets.entries()) {
          const head = Buffer.alloc(12)
          head[0] = 0x80
          head[1] = 96 | (isMarked ? 0x80 : 0)
          head.writeUInt16BE(sequence, 2)
          head.writeUInt32BE(ssrc, 8)
          assembler.receive(at * 10, Buffer.concat([head, payload]))
        }
        assembler.tick(10_000)
        return assembler.waiting <= 512
      }),
    )
  })
})
