import { describe, expect, it } from 'vitest'
import { buildRtcp, compactNtp, parseRtcp, type ReportBlock } from './rtcp.ts'

const block: ReportBlock = {
  ssrc: 0xdeadbeef,
  fractionLost: 25,
  lost: -3,
  highestSequence: 0x0001ffff,
  jitter: 17,
  lastReport: 0x80000001,
  delay: 65536,
}

describe('RTCP', () => {
  it('is restored after building', () => {
    const info = { at: 1_700_000_000_250, timestamp: 0xfffffff0, packets: 1000, octets: 160_000 }
    const packets = [
      { kind: 'sender', ssrc: 1, info, blocks: [block] },
      {
        kind: 'receiver',
        ssrc: 2,
        blocks: [
          { ...block, lost: 0x7fffff },
          { ...block, lost: -0x800000 },
        ],
      },
      { kind: 'description', ssrc: 0xffffffff, cname: 'a-name' },
      { kind: 'bye', ssrcs: [1, 2] },
    ] as const
    expect(parseRtcp(buildRtcp(packets))).toEqual(packets)
  })

  it.each(['', 'a', 'ab', 'abc', 'abcd', 'x'.repeat(255)])(
    'pads the description of %j to whole words',
    (cname) => {
      const built = buildRtcp([{ kind: 'description', ssrc: 7, cname }])
      expect(built.length % 4).toBe(0)
      expect(built.readUInt16BE(2)).toBe(built.length / 4 - 1)
      expect(parseRtcp(built)).toEqual([{ kind: 'description', ssrc: 7, cname }])
    },
  )

  it('has the bytes of RFC 3550 section 6.4.2 for an empty receiver report', () => {
    expect([...buildRtcp([{ kind: 'receiver', ssrc: 0x01020304, blocks: [] }])]).toEqual([
      0x80, 201, 0, 1, 1, 2, 3, 4,
    ])
  })

  it('has the middle of the NTP time', () => {
    // 1 January 1970 is 2208988800 = 0x83AA7E80 seconds after 1900.
    expect(compactNtp(0)).toBe(0x7e800000)
    expect(compactNtp(1500)).toBe(0x7e818000)
  })

  it('lets feedback and extended reports pass as other', () => {
    const feedback = Buffer.of(0x81, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2)
    expect(parseRtcp(feedback)).toEqual([{ kind: 'other', type: 205 }])
  })

  it.each([
    ['empty', Buffer.alloc(0)],
    ['cut in its header', Buffer.of(0x80, 200, 0)],
    ['longer than it says', Buffer.of(0x80, 201, 0, 1, 0, 0, 0, 1, 9)],
    ['shorter than it says', Buffer.of(0x80, 201, 0, 2, 0, 0, 0, 1)],
    ['of another version', Buffer.of(0x40, 201, 0, 1, 0, 0, 0, 1)],
    ['a sender report without its information', Buffer.of(0x80, 200, 0, 1, 0, 0, 0, 1)],
    ['a report with fewer blocks than it says', Buffer.of(0x81, 201, 0, 1, 0, 0, 0, 1)],
    ['a description with an item beyond its end', Buffer.of(0x81, 202, 0, 2, 0, 0, 0, 1, 1, 200, 65, 66)],
    ['a goodbye with fewer sources than it says', Buffer.of(0x82, 203, 0, 1, 0, 0, 0, 1)],
    ['of a type that is none', Buffer.of(0x80, 100, 0, 1, 0, 0, 0, 1)],
  ])('is rejected if it is %s', (_, compound) => {
    expect(parseRtcp(compound)).toBeUndefined()
  })
})
