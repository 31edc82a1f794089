import { describe, expect, it } from 'vitest'
import { Reception } from './reception.ts'
import { compactNtp, parseRtcp } from './rtcp.ts'
import { RtcpReporter } from './rtcp-reporter.ts'

const start = 1_700_000_000_000

function setUp(random = () => 0.5) {
  const reception = new Reception()
  const sent = { packets: 0, octets: 0, timestampAt: (now: number) => ((now - start) * 8) >>> 0 }
  const reports = new RtcpReporter({ ssrc: 7, cname: 'us', reception, sent, random })
  return { reception, sent, reports }
}

describe('RTCP reports', () => {
  it('are sent about every 5 s, randomised from 0.5 to 1.5 times, the first after half', () => {
    const mean = 5000 / (Math.E - 1.5)
    for (const [chance, share] of [
      [0, 0.5],
      [0.5, 1],
      [0.999, 1.499],
    ] as const) {
      const { reports } = setUp(() => chance)
      reports.start(start)
      const times: number[] = []
      for (let now = start; now < start + 30_000; now += 10) if (reports.tick(now)) times.push(now - start)
      expect(Math.abs(times[0]! - (mean * share) / 2)).toBeLessThanOrEqual(10)
      expect(Math.abs(times[1]! - times[0]! - mean * share)).toBeLessThanOrEqual(10)
    }
  })

  it('do not start without a far end', () => {
    const { reports } = setUp()
    expect([reports.tick(start + 60_000), reports.bye(start)]).toEqual([undefined, undefined])
  })

  it('are sender reports while packets are sent, else receiver reports', () => {
    const { reports, sent, reception } = setUp()
    reports.start(start)
    reception.update(start, 99, 5, 0, true)
    sent.packets = 50
    sent.octets = 8000
    expect(parseRtcp(reports.tick(start + 10_000)!)).toEqual([
      {
        kind: 'sender',
        ssrc: 7,
        info: { at: start + 10_000, timestamp: 80_000, packets: 50, octets: 8000 },
        blocks: [
          { ssrc: 99, fractionLost: 0, lost: 0, highestSequence: 5, jitter: 0, lastReport: 0, delay: 0 },
        ],
      },
      { kind: 'description', ssrc: 7, cname: 'us' },
    ])
    expect(parseRtcp(reports.tick(start + 20_000)!)?.[0]?.kind).toBe('receiver')
  })

  it("refer to the far side's sender report for the round trip", () => {
    const { reports, reception } = setUp()
    reports.start(start)
    reception.update(start, 99, 5, 0, true)
    const info = { at: start + 1000, timestamp: 0, packets: 1, octets: 1 }
    reports.receive(start + 1030, [{ kind: 'sender', ssrc: 99, info, blocks: [] }])
    const [report] = parseRtcp(reports.tick(start + 10_030)!)!
    expect(report).toMatchObject({ blocks: [{ lastReport: compactNtp(start + 1000), delay: 9 * 65_536 }] })
  })

  it('do not refer to a report of a former source', () => {
    const { reports, reception } = setUp()
    reports.start(start)
    const info = { at: start, timestamp: 0, packets: 1, octets: 1 }
    reports.receive(start, [{ kind: 'sender', ssrc: 98, info, blocks: [] }])
    reception.update(start, 99, 5, 0, true)
    const [report] = parseRtcp(reports.tick(start + 10_000)!)!
    expect(report).toMatchObject({ blocks: [{ ssrc: 99, lastReport: 0, delay: 0 }] })
  })

  it('give the round trip: arrival minus report minus delay', () => {
    const { reports } = setUp()
    const block = { ssrc: 7, fractionLost: 0, lost: 0, highestSequence: 0, jitter: 0 }
    const answer = { ...block, lastReport: compactNtp(start), delay: Math.round(0.25 * 65_536) }
    reports.receive(start + 330, [{ kind: 'receiver', ssrc: 99, blocks: [answer] }])
    expect(reports.roundTripMs).toBeCloseTo(80, 0)
    // Reports about other streams or unsent reports give nothing.
    reports.receive(start + 999, [{ kind: 'receiver', ssrc: 99, blocks: [{ ...answer, ssrc: 8 }] }])
    reports.receive(start + 999, [{ kind: 'receiver', ssrc: 99, blocks: [{ ...answer, lastReport: 0 }] }])
    expect(reports.roundTripMs).toBeCloseTo(80, 0)
  })

  it("return the far side's statistics, in ms of the local clock", () => {
    const { reports, sent } = setUp()
    const block = {
      ssrc: 7,
      fractionLost: 0,
      lost: 12,
      highestSequence: 9,
      jitter: 480,
      lastReport: 0,
      delay: 0,
    }
    expect(reports.far).toBeUndefined()
    reports.receive(start, [{ kind: 'receiver', ssrc: 99, blocks: [{ ...block, ssrc: 8 }] }])
    expect(reports.far).toBeUndefined()
    reports.receive(start, [{ kind: 'receiver', ssrc: 99, blocks: [block] }])
    expect(reports.far).toEqual({ lost: 12, jitterMs: 60 })
    Object.assign(sent, { clockRate: () => 48_000 })
    reports.receive(start, [{ kind: 'receiver', ssrc: 99, blocks: [{ ...block, lost: -3 }] }])
    expect(reports.far).toEqual({ lost: 0, jitterMs: 10 })
  })

  it('report a BYE until another source is received', () => {
    const { reports, reception } = setUp()
    reception.update(start, 99, 5, 0, true)
    expect(reports.farLeft).toBe(false)
    reports.receive(start, [{ kind: 'bye', ssrcs: [98, 99] }])
    expect(reports.farLeft).toBe(true)
    reception.update(start, 100, 5, 0, true)
    expect(reports.farLeft).toBe(false)
  })

  it('end with a BYE if anything was sent', () => {
    const { reports, sent } = setUp()
    sent.packets = 1
    expect(parseRtcp(reports.bye(start)!)?.map(({ kind }) => kind)).toEqual(['sender', 'description', 'bye'])
  })
})
