import { describe, expect, it } from 'vitest'
import { isRtcp, readRtp, rtpView, sequenceAhead, timestampAhead, writeRtpHeader } from './packet.ts'

const header = { payloadType: 8, marker: true, sequence: 65535, timestamp: 0xfffffff0, ssrc: 0x80000001 }

/** Packet with all optional parts. */
function full(options: { sources?: number; extension?: number; payload?: number; padding?: number }): Buffer {
  const { sources = 0, extension, payload = 160, padding = 0 } = options
  const before = 12 + sources * 4
  const extra = extension === undefined ? 0 : 4 + extension
  const packet = Buffer.alloc(before + extra + payload + padding, 0x55)
  writeRtpHeader(packet, 0, header)
  packet[0] = 0x80 | (padding ? 0x20 : 0) | (extension === undefined ? 0 : 0x10) | sources
  if (extension !== undefined) {
    packet.writeUInt16BE(0xbede, before)
    packet.writeUInt16BE(extension / 4, before + 2)
  }
  if (padding) packet[packet.length - 1] = padding
  return packet
}

describe('an RTP packet', () => {
  it('is restored after writing', () => {
    const view = rtpView()
    expect(readRtp(full({}), view)).toBe(true)
    expect(view).toEqual({ ...header, start: 12, end: 172 })
  })

  it.each([
    [{ sources: 3 }, 24, 184],
    [{ extension: 16 }, 32, 192],
    [{ extension: 0 }, 16, 176],
    [{ sources: 15, extension: 8, padding: 4 }, 84, 244],
    [{ padding: 20 }, 12, 172],
    [{ payload: 0 }, 12, 12],
  ])('is read with %j', (options, start, end) => {
    const view = rtpView()
    expect(readRtp(full(options), view)).toBe(true)
    expect([view.start, view.end]).toEqual([start, end])
  })

  it.each([
    ['empty', Buffer.alloc(0)],
    ['shorter than a header', full({}).subarray(0, 11)],
    ['of version 1', Buffer.concat([Buffer.of(0x40), full({}).subarray(1)])],
    ['with more sources than bytes', full({ sources: 15, payload: 0 }).subarray(0, 40)],
    ['with an extension that has no length', full({ extension: 0, payload: 0 }).subarray(0, 14)],
    ['with an extension beyond the end', full({ extension: 16, payload: 0 }).subarray(0, 28)],
    ['with padding of zero', Buffer.concat([full({ padding: 1 }).subarray(0, -1), Buffer.of(0)])],
    [
      'with padding longer than the payload',
      Buffer.concat([full({ padding: 1 }).subarray(0, -1), Buffer.of(200)]),
    ],
  ])('is rejected if it is %s', (_, packet) => {
    expect(readRtp(packet, rtpView())).toBe(false)
  })

  it('never has a payload outside the packet, for any bytes', () => {
    let seed = 1
    const random = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return seed >>> 8
    }
    const view = rtpView()
    let accepted = 0
    for (let i = 0; i < 20_000; i++) {
      const bytes = Buffer.from(Array.from({ length: random() % 60 }, () => random() & 0xff))
      if (bytes.length > 0) bytes[0] = 0x80 | (bytes[0]! & 0x3f)
      if (!readRtp(bytes, view)) continue
      accepted++
      expect(view.start >= 12 && view.start <= view.end && view.end <= bytes.length).toBe(true)
    }
    expect(accepted).toBeGreaterThan(1000)
  })

  it('is distinguished from RTCP by its second byte', () => {
    expect(
      [191, 192, 200, 207, 223, 224, 0, 8, 101, 128].map((byte) => isRtcp(Buffer.of(0x80, byte))),
    ).toEqual([false, true, true, true, true, false, false, false, false, false])
    expect(isRtcp(Buffer.alloc(1))).toBe(false)
  })

  it('has numbers that compare across the wrap', () => {
    expect([sequenceAhead(2, 65534), sequenceAhead(65534, 2), sequenceAhead(7, 7)]).toEqual([4, -4, 0])
    expect([timestampAhead(160, 0xffffff60), timestampAhead(0xffffff60, 160)]).toEqual([320, -320])
  })
})
