import { describe, expect, it } from 'vitest'
import { decode, encode } from '../codecs/g711.ts'
import { Packetizer } from './packetizer.ts'
import { testCodecs } from './testing/codecs.ts'

const ramp = Int16Array.from({ length: 8000 }, (_, i) => i * 4)
const setUp = (ptimeMs: number) => {
  const packetizer = new Packetizer(testCodecs.encoder('PCMU', { ptimeMs }), 8000)
  const out = new Uint8Array(packetizer.maxBytes)
  const take = () => decode('PCMU', out.slice(0, packetizer.take(out, 0)))
  return { packetizer, take }
}
/** Returns linear samples after G.711 coding. */
const line = (from: number, to: number) => decode('PCMU', encode('PCMU', ramp.subarray(from, to)))
const frame = (i: number) => ramp.subarray(i * 160, i * 160 + 160)

describe('a packetizer', () => {
  it('fills packets of 30 ms with frames of 20 ms', () => {
    const { packetizer, take } = setUp(30)
    expect([packetizer.units, packetizer.rate, packetizer.isEmpty]).toEqual([240, 8000, true])
    packetizer.push(frame(0))
    expect([packetizer.isDue, packetizer.isEmpty]).toEqual([false, false])
    packetizer.push(frame(1))
    expect(packetizer.isDue).toBe(true)
    expect(take()).toEqual(line(0, 240))
    packetizer.push(frame(2))
    expect(take()).toEqual(line(240, 480))
    expect(packetizer.isEmpty).toBe(true)
  })

  it('completes a packet with silence', () => {
    const { packetizer, take } = setUp(60)
    packetizer.push(frame(0))
    packetizer.push(undefined)
    const heard = take()
    expect(heard.subarray(0, 160)).toEqual(line(0, 160))
    expect(heard.subarray(160).every((sample) => sample === 0)).toBe(true)
    packetizer.push(undefined)
    expect(packetizer.isEmpty).toBe(true)
  })

  it('holds the second of two short packets back for the next tick', () => {
    const { packetizer, take } = setUp(10)
    packetizer.push(frame(0))
    expect(packetizer.isDue).toBe(true)
    expect(take()).toEqual(line(0, 80))
    expect([packetizer.isDue, packetizer.hasPacket]).toEqual([false, true])
    expect(take()).toEqual(line(80, 160))
    packetizer.push(frame(1))
    packetizer.clear()
    expect(packetizer.isEmpty).toBe(true)
    packetizer.close()
  })

  it('is not overrun by frames that are caught up', () => {
    const { packetizer, take } = setUp(50)
    const heard: number[] = []
    for (let i = 0; i < 50; i++) {
      packetizer.push(frame(i))
      while (packetizer.isDue) heard.push(...take())
    }
    expect(heard).toEqual([...line(0, 8000)])
  })
})
