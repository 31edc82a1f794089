import { describe, expect, it } from 'vitest'
import { HeldPicture } from './held-picture.ts'
import { readVp8Packet } from './testing/vp8-reader.ts'
import { type Frame, Vp8Source } from './testing/vp8-source.ts'

const setUp = () => {
  const held = new HeldPicture()
  const source = new Vp8Source({ timestamp: 0xffff_f000 })
  const send = (frame: Frame) => {
    for (const packet of source.frame(frame)) {
      held.receive(packet)
      // Received packets are lent.
      packet.fill(0)
    }
  }
  const texts = () => held.packets().map((packet) => readVp8Packet(packet).data.toString())
  return { held, source, send, texts }
}

describe('the held picture', () => {
  it('begins with the latest key frame', () => {
    const { held, send, texts } = setUp()
    send({ text: 'a' })
    expect(held.isReady).toBe(false)
    expect(texts()).toEqual([])
    send({ isKey: true, text: 'b' })
    send({ isKey: true, packets: 2, text: 'c' })
    send({ text: 'd' })
    expect(held.isReady).toBe(true)
    expect(texts()).toEqual(['Pc/0', 'Pc/1', 'Qd/0'])
  })

  it('places its frames a millisecond before the next one, with their sequence and picture ids', () => {
    const { held, source, send } = setUp()
    send({ isKey: true, packets: 2 })
    send({})
    send({})
    const packets = held.packets().map(readVp8Packet)
    const behind = packets.map(({ timestamp }) => (source.timestamp - timestamp) >>> 0)
    expect(behind).toEqual([180, 180, 90, 0])
    expect(packets.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3])
    expect(packets.map(({ pictureId }) => pictureId)).toEqual([1, 1, 2, 3])
  })

  it('gives up without a key frame for too long, until the next one', () => {
    const { held, send, texts } = setUp()
    send({ isKey: true })
    for (let i = 0; i < 500; i++) send({})
    expect(held.isReady).toBe(false)
    send({})
    expect(texts()).toEqual([])
    send({ isKey: true, text: 'z' })
    expect(texts()).toEqual(['Pz/0'])
  })

  it('gives up if it would be a long burst, until the next key frame', () => {
    const { held, send, texts } = setUp()
    const text = 'x'.repeat(999)
    send({ isKey: true, packets: 60, text })
    send({ packets: 30, text })
    expect(held.isReady).toBe(true)
    send({ packets: 10, text })
    expect(held.isReady).toBe(false)
    // A key frame that is too long by itself.
    send({ isKey: true, packets: 100, text })
    expect(held.isReady).toBe(false)
    send({ isKey: true, text: 'z' })
    expect(texts()).toEqual(['Pz/0'])
  })

  it('ignores what is no picture', () => {
    const { held, source } = setUp()
    held.receive(Buffer.alloc(3))
    held.receive(source.padding())
    expect(held.isReady).toBe(false)
  })
})
