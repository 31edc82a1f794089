import { describe, expect, it } from 'vitest'
import { readRtp, rtpView } from '../rtp/packet.ts'
import { parseRtcp } from '../rtp/rtcp.ts'
import { Vp8Packetizer } from './vp8-packetizer.ts'

const packetizer = () =>
  new Vp8Packetizer({
    ssrc: 7,
    payloadType: 101,
    cname: 'room',
    sequence: 65_535,
    timestamp: 0xffff_ffff,
    pictureId: 0x7fff,
  })

const headOf = (packet: Buffer) => {
  const view = rtpView()
  expect(readRtp(packet, view)).toBe(true)
  return { ...view }
}

describe('the packets of a rendition', () => {
  it('are of nearly equal length, at most 1200 bytes, with a marker at the end of the frame', () => {
    const packets = packetizer().packetize(new Uint8Array(3000).fill(9), 90)
    expect(packets.map(({ length }) => length)).toEqual([1016, 1016, 1016])
    const heads = packets.map(headOf)
    expect(heads.map(({ sequence }) => sequence)).toEqual([65_535, 0, 1])
    expect(heads.map(({ marker }) => marker)).toEqual([false, false, true])
    expect(new Set(heads.map(({ timestamp }) => timestamp))).toEqual(new Set([89]))
    expect(heads[0]).toMatchObject({ ssrc: 7, payloadType: 101 })
    expect(packetizer().packetize(new Uint8Array(1184), 0)).toHaveLength(1)
    expect(packetizer().packetize(new Uint8Array(1185), 0)).toHaveLength(2)
  })

  it('have the next picture id in each frame, over its wrap', () => {
    const stream = packetizer()
    const idOf = (packet: Buffer) => packet.readUInt16BE(14)
    const ids = [0, 1, 2].map((at) => idOf(stream.packetize(new Uint8Array(10), at)[0]!))
    expect(ids).toEqual([0xffff, 0x8000, 0x8001])
  })

  it('are counted in the sender report, which has the time of both clocks', () => {
    const stream = packetizer()
    stream.packetize(new Uint8Array(2000), 0)
    const at = 1_700_000_000_500
    expect(parseRtcp(stream.report(at, 4500))).toEqual([
      {
        kind: 'sender',
        ssrc: 7,
        info: { at, timestamp: 4499, packets: 2, octets: 2008 },
        blocks: [],
      },
      { kind: 'description', ssrc: 7, cname: 'room' },
    ])
  })
})
