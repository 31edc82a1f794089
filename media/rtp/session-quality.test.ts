import { beforeEach, describe, expect, it } from 'vitest'
import type { FrameChannel } from './frame-channel.ts'
import { buildRtcp, compactNtp } from './rtcp.ts'
import { type TestLine, TestTime } from './testing/session-line.ts'

describe('the quality of a session', () => {
  let time: TestTime
  let a: TestLine

  beforeEach(() => {
    time = new TestTime()
    a = time.line('192.0.2.1')
    a.set()
  })

  const rtcp = (packet: Buffer, from = '192.0.2.1', port = 4001) =>
    a.session.receiveRtcp(time.now, packet, from, port)
  const block = { ssrc: 0x5e1f, fractionLost: 0, lost: 7, highestSequence: 0, jitter: 160, delay: 0 }

  it('is absent before audio was received', () => {
    expect(a.session.stats()).not.toHaveProperty('mos')
    expect(a.session.stats()).not.toHaveProperty('far')
    a.hearEvent(5, 8000, 800, true)
    expect(a.session.stats()).not.toHaveProperty('mos')
  })

  it('falls with loss and delay', () => {
    time.pass(2000, () => a.hear())
    const good = a.session.stats().mos ?? 0
    expect(good).toBe(4.39)
    time.pass(2000, (step) => {
      if (step % 10 === 0) a.next.sequence += 1
      a.hear()
    })
    const { mos: lossy = 0, lost, received } = a.session.stats()
    expect([lost, received]).toEqual([10, 200])
    expect(lossy).toBeLessThan(good)
    const lastReport = compactNtp(time.now - 800)
    rtcp(buildRtcp([{ kind: 'receiver', ssrc: 0xa11ce, blocks: [{ ...block, lastReport }] }]))
    expect(a.session.stats().roundTripMs).toBeCloseTo(800, 0)
    expect(a.session.stats().mos).toBeLessThan(lossy)
  })

  it('falls with late packets, if they are decoded', () => {
    a.session.connect({
      rate: 8000,
      isContinuous: false,
      write: () => {},
      read: () => undefined,
      close: () => {},
    })
    time.pass(2000, () => a.hear())
    const good = a.session.stats().mos ?? 0
    const { sequence, timestamp } = a.next
    for (let i = 0; i < 20; i++) {
      a.next = { ...a.next, sequence: sequence + i + 1, timestamp: timestamp + (i + 1) * 160 }
      a.hear()
      time.pass(20)
    }
    expect(a.session.stats().lost).toBe(1)
    a.next = { ...a.next, sequence, timestamp }
    a.hear()
    const { lost, mos = 0 } = a.session.stats()
    expect(lost).toBe(0)
    expect(mos).toBeLessThan(good)
    a.session.close(time.now)
    expect(a.session.stats().mos).toBe(mos)
  })

  it('has the delay of a prompt sink while nothing else is decoded, and keeps it', () => {
    const channel: FrameChannel = {
      rate: 8000,
      isContinuous: false,
      write: () => {},
      read: () => undefined,
      close: () => {},
    }
    a.session.connect(channel)
    time.pass(2000, () => a.hear())
    const even = a.session.bufferMs
    a.session.detach()
    a.session.addSink({ rate: 8000, tracks: 'in', isPrompt: true, write: () => {} })
    time.pass(2000, () => a.hear())
    const prompt = a.session.bufferMs
    expect(prompt).toBeGreaterThan(0)
    expect(prompt).toBeLessThan(even)
    a.session.close(time.now)
    expect(a.session.bufferMs).toBe(prompt)
  })

  it("includes the far side's reports, also in the short packets of RFC 5506", () => {
    rtcp(buildRtcp([{ kind: 'receiver', ssrc: 0xa11ce, blocks: [{ ...block, lastReport: 0 }] }]))
    const feedback = Buffer.of(0x81, 205, 0, 3, 0, 10, 0x11, 0xce, 0, 0, 0x5e, 0x1f, 0, 1, 0, 0)
    rtcp(feedback)
    expect(a.session.stats()).toMatchObject({ far: { lost: 7, jitterMs: 20 }, refused: { malformed: 0 } })
    expect(a.session.stats()).not.toHaveProperty('roundTripMs')
  })

  it("includes the far side's BYE, which ends nothing", () => {
    a.hear()
    rtcp(buildRtcp([{ kind: 'bye', ssrcs: [0xa11ce] }]))
    expect(a.session.stats()).toMatchObject({ farLeft: true })
    a.hear()
    time.pass(3000)
    expect(a.session.stats()).toMatchObject({ received: 2, sent: 3 })
    expect(a.rtcp).toHaveLength(1)
    a.hear(undefined, { ssrc: 0xbeef })
    expect(a.session.stats()).not.toHaveProperty('farLeft')
  })

  it("uses RTCP at the far side's RTCP address only", () => {
    a.set({ rtcpAddress: '192.0.2.9', rtcpPort: 7001 })
    a.hear()
    const report = () =>
      buildRtcp([{ kind: 'receiver', ssrc: 0xa11ce, blocks: [{ ...block, lastReport: 0 }] }])
    rtcp(report(), '203.0.113.66', 7001)
    expect(a.session.stats().refused.source).toBe(1)
    rtcp(report(), '192.0.2.9', 7001)
    time.pass(7000)
    expect(a.rtcp.map(({ to }) => to)).toEqual(['192.0.2.9:7001', '192.0.2.9:7001'])
    expect(a.session.stats().far?.lost).toBe(7)
  })
})
