import { describe, expect, it } from 'vitest'
import type { FarEnd, NearEnd } from '../types.ts'
import { writeRtpHeader } from './packet.ts'
import { Receiver } from './receiver.ts'

const near: NearEnd = { codecs: [{ codec: 'PCMU', payloadType: 0 }], telephoneEvent: 101 }
const far: FarEnd = {
  address: '192.0.2.1',
  port: 4000,
  codec: 'PCMU',
  payloadType: 0,
  direction: 'sendrecv',
}

const packet = (payloadType: number, bytes: number) => {
  const made = Buffer.alloc(12 + bytes, 0x55)
  writeRtpHeader(made, 0, { payloadType, marker: false, sequence: 1, timestamp: 1, ssrc: 7 })
  return made
}

const made = () =>
  new Receiver(
    true,
    () => {},
    () => {},
  )

describe('the receiver', () => {
  it('recognises a format by each of its payload types', () => {
    const receiver = made()
    const codecs = [0, 96].map((payloadType) => ({ codec: 'PCMU', payloadType }) as const)
    const telephoneEvents = [{ payloadType: 97, clockRate: 8000 }]
    receiver.set({ ...near, codecs, telephoneEvents }, far, true)
    const heard = [0, 96, 101, 97, 98].map((number) =>
      receiver.accept(1000, packet(number, 160), '192.0.2.1', 4000),
    )
    expect(heard).toEqual(['audio', 'audio', 'event', 'event', undefined])
  })

  it('learns nothing from comfort noise that was not negotiated', () => {
    const receiver = made()
    receiver.set(near, far, true)
    const hear = (payloadType: number, port: number) =>
      receiver.accept(1000, packet(payloadType, payloadType === 13 ? 1 : 160), '192.0.2.1', port)
    expect(hear(13, 61_000)).toBeUndefined()
    expect([hear(0, 61_000), hear(13, 61_000)]).toEqual(['audio', 'noise'])
    // The source matches better, and would replace the learnt one.
    expect(hear(13, 4000)).toBeUndefined()
    expect([receiver.latch.port, receiver.refused['payload-type']]).toEqual([61_000, 2])
    receiver.set({ ...near, comfortNoise: 13 }, far, true)
    expect([hear(13, 4000), receiver.latch.port]).toEqual(['noise', 4000])
  })
})
