import { beforeEach, describe, expect, it } from 'vitest'
import { decode, silenceByte } from '../codecs/g711.ts'
import { sine } from '../codecs/tone.ts'
import { buildRtcp, parseRtcp } from './rtcp.ts'
import { discontinuities, type TestLine, TestTime } from './testing/session-line.ts'

const minute = 60_000

describe('a session', () => {
  let time: TestTime
  let a: TestLine
  let b: TestLine

  beforeEach(() => {
    time = new TestTime()
    a = time.line('192.0.2.1')
    b = time.line('198.51.100.1')
  })

  /** Sets both far ends, joins them, sends the opening silence and discards it. */
  const join = () => {
    a.set()
    b.set()
    time.pass(200)
    a.session.join(b.session)
    a.sent.length = 0
    b.sent.length = 0
  }

  it('sends and accepts nothing before it knows the far end', () => {
    a.session.promptMixer.play(1, sine(440, 100), 8000, 1, 0)
    a.hear()
    time.pass(1000)
    expect([a.sent, a.rtcp, a.session.stats().refused.source]).toEqual([[], [], 1])
  })

  it('opens the path with three packets of silence, and is silent then', () => {
    a.set({ codec: 'PCMA' })
    time.pass(1000)
    expect(
      a.sent.map(({ payload, to, payloadType }) => [
        payload.every((byte) => byte === silenceByte.PCMA),
        to,
        payloadType,
      ]),
    ).toEqual(Array(3).fill([true, '192.0.2.1:4000', 8]))
    expect(a.sent.map(({ marker, at }) => [marker, at - a.sent[0]!.at])).toEqual([
      [true, 0],
      [false, 20],
      [false, 40],
    ])
    // A refresh without changes keeps the path; another port opens a new one.
    a.set({ codec: 'PCMA' })
    time.pass(1000)
    expect(a.sent).toHaveLength(3)
    a.set({ codec: 'PCMA', port: 4002 })
    time.pass(1000)
    expect(a.sent).toHaveLength(6)
    expect(discontinuities(a.sent)).toEqual([])
  })

  it('sends to the learnt source, and rejects all others from then on', () => {
    a.set()
    a.hear(undefined, { from: '203.0.113.66' })
    a.hear(undefined, { port: 61_000, payloadType: 77 })
    expect(a.events).toEqual([])
    a.hear(undefined, { port: 61_000 })
    time.pass(3000)
    a.hear(undefined, { port: 61_000 })
    a.hear(undefined, { port: 4000 })
    a.hear(undefined, { from: '203.0.113.66', port: 61_000 })
    expect(a.events).toEqual([{ kind: 'latched', address: '192.0.2.1', port: 61_000 }])
    expect(a.session.stats()).toMatchObject({
      received: 2,
      refused: { source: 3, 'payload-type': 1, malformed: 0, ssrc: 0, srtp: 0 },
    })
    a.session.promptMixer.play(1, sine(440, 20), 8000, 1, 0)
    time.pass(100)
    expect(a.sent.at(-1)?.to).toBe('192.0.2.1:61000')
  })

  it('is not diverted by spoofed packets before and after description, refresh and hold, and counts them', () => {
    const spoof = () => {
      a.hear(undefined, { from: '203.0.113.66', ssrc: 0xbad })
      a.hear(undefined, { port: 62_000, ssrc: 0xbad })
      const report = buildRtcp([{ kind: 'receiver', ssrc: 0xbad, blocks: [] }])
      a.session.receiveRtcp(time.now, report, '192.0.2.1', 62_001)
    }
    a.hear()
    a.set()
    a.hear(undefined, { port: 61_000 })
    for (const direction of ['sendrecv', 'inactive', 'sendrecv'] as const) {
      a.set({ direction })
      spoof()
      a.hear(undefined, { port: 61_000 })
      time.pass(3000)
      spoof()
      a.hear(undefined, { port: 61_000 })
    }
    expect(a.events).toEqual([{ kind: 'latched', address: '192.0.2.1', port: 61_000 }])
    // From the same address with another stream: three RTP packets are inspected, and all RTCP, since no
    // valid RTCP arrived.
    expect(a.session.stats()).toMatchObject({ received: 7, refused: { source: 10, ssrc: 9 } })
    a.session.promptMixer.play(1, sine(440, 20), 8000, 1, 0)
    time.pass(3000)
    expect([a.sent.at(-1)?.to, a.rtcp.at(-1)?.to]).toEqual(['192.0.2.1:61000', '192.0.2.1:4001'])
  })

  it('learns from comfort noise and events with negotiated payload types', () => {
    a.set({}, { comfortNoise: 98, telephoneEvents: [{ payloadType: 99, clockRate: 48_000 }] })
    a.hear(Buffer.of(40), { payloadType: 98, port: 61_000 })
    a.hearEvent(7, 9_600, 9_600, true, 99)
    expect(a.events).toEqual([
      { kind: 'latched', address: '192.0.2.1', port: 61_000 },
      { kind: 'latched', address: '192.0.2.1', port: 4000 },
      { kind: 'digit', digit: '7', durationMs: 200, by: 'event' },
    ])
  })

  it("forwards packets on arrival: unchanged payload, with the far end's payload type", () => {
    join()
    const payload = Buffer.from(Array.from({ length: 240 }, (_, i) => i))
    a.hear(payload)
    expect(b.sent).toHaveLength(1)
    expect(b.sent[0]?.payload.equals(payload)).toBe(true)
    expect(a.sent).toEqual([])
  })

  it('converts by table between the laws of G.711, in both directions', () => {
    a.set({ codec: 'PCMU' })
    b.set({ codec: 'PCMA' })
    time.pass(100)
    a.session.join(b.session)
    a.hear(Buffer.alloc(160, 0x80))
    expect(b.sent.at(-1)).toMatchObject({ payloadType: 8 })
    expect(decode('PCMA', b.sent.at(-1)!.payload)[7]).toBeGreaterThan(30_000)
    b.hear(Buffer.alloc(160, 0x2a), { payloadType: 8 })
    expect(a.sent.at(-1)).toMatchObject({ payloadType: 0 })
    expect(decode('PCMU', a.sent.at(-1)!.payload)[7]).toBeLessThan(-30_000)
  })

  it('accepts a header extension of 16 bytes, and forwards without it', () => {
    join()
    const packet = Buffer.alloc(12 + 20 + 160, 0x33)
    packet.set([0x90, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 5])
    packet.set([0xbe, 0xde, 0, 4], 12)
    a.session.receive(time.now, packet, '192.0.2.1', 4000)
    expect(b.sent[0]?.payload).toHaveLength(160)
    expect(b.sent[0]?.payload.every((byte) => byte === 0x33)).toBe(true)
  })

  it('is one stream over prompt, bridge, digits, silence and prompt again', () => {
    join()
    const talk = () => a.hear()
    b.session.promptMixer.play(1, sine(440, 500), 8000, 1, 0)
    time.pass(1000, talk)
    expect(b.played).toEqual([1])
    b.session.sendDigits('12', () => {})
    time.pass(1000, talk)
    time.pass(3000)
    a.next.timestamp = 1
    time.pass(500, talk)
    b.session.promptMixer.play(2, sine(440, 300), 8000, 1, 0)
    time.pass(1000, talk)
    a.session.detach()
    b.session.promptMixer.play(3, sine(440, 300), 8000, 1, 0)
    time.pass(500)
    expect(discontinuities(b.sent)).toEqual([])
    // Time and timestamps agree within 20 ms at the end of 7 s.
    const first = b.sent[0]!
    const last = b.sent.at(-1)!
    expect(Math.abs(((last.timestamp - first.timestamp) | 0) / 8 - (last.at - first.at))).toBeLessThanOrEqual(
      20,
    )
    // Prompt, bridge, two digits, bridge, bridge after silence, prompt, bridge, prompt.
    expect(b.sent.filter(({ marker }) => marker)).toHaveLength(9)
  })

  it('gives a prompt precedence over joined audio, packet by packet', () => {
    join()
    b.session.promptMixer.play(1, sine(440, 400), 8000, 1, 0)
    time.pass(400, () => a.hear())
    expect(b.sent).toHaveLength(20)
    expect(b.sent.some(({ payload }) => payload[0] === 0x2a)).toBe(false)
    time.pass(200, () => a.hear())
    expect(b.sent.slice(20).every(({ payload }) => payload[0] === 0x2a)).toBe(true)
    expect(b.sent).toHaveLength(30)
  })

  it('plays at the packet duration that the far end requests', () => {
    a.set({ ptime: 30 })
    time.pass(200)
    a.sent.length = 0
    a.session.promptMixer.play(1, sine(440, 300), 8000, 1, 0)
    time.pass(500)
    expect(a.sent.map(({ payload }) => payload.length)).toEqual(Array(10).fill(240))
    expect(discontinuities(a.sent)).toEqual([])
  })

  it('catches up late ticks, but not a long stall', () => {
    a.set()
    time.pass(200)
    a.sent.length = 0
    a.session.promptMixer.play(1, sine(440, 10_000), 8000, 1, 0)
    time.frame()
    time.stall(100)
    expect(a.sent).toHaveLength(6)
    time.stall(3000)
    expect(a.sent).toHaveLength(7)
    expect(a.sent[6]?.marker).toBe(true)
    expect((a.sent[6]!.timestamp - a.sent[5]!.timestamp) | 0).toBe(24_000)
  })

  it('does not drift: ten minutes of prompt are ten minutes', () => {
    a.set()
    time.pass(200)
    a.sent.length = 0
    a.session.promptMixer.play(1, sine(440, 1000), 8000, 0, 0)
    time.pass(10 * minute)
    expect(a.sent).toHaveLength(30_000)
    expect(discontinuities(a.sent)).toEqual([])
  })

  it("suppresses audio while a digit is sent, and sends it with the receiver's payload type", () => {
    b.set({ telephoneEvent: 96 })
    a.set()
    time.pass(200)
    a.session.join(b.session)
    b.sent.length = 0
    let done: boolean | undefined
    b.session.sendDigits('5', (sent) => {
      done = sent
    })
    b.session.tick(time.now)
    time.pass(400, () => a.hear())
    const types = b.sent.map(({ payloadType }) => payloadType)
    expect(types.slice(0, 5)).toEqual([96, 96, 96, 96, 96])
    expect(types.slice(5).every((type) => type === 0)).toBe(true)
    expect(done).toBe(true)
    expect(discontinuities(b.sent)).toEqual([])
  })

  it('sends audio that is due before a digit, and none within it', () => {
    b.set({ ptime: 10 })
    b.session.promptMixer.play(1, sine(440, 500), 8000, 1, 0)
    time.stall(20)
    b.session.sendDigits('5', () => {})
    time.pass(300)
    const digit = b.sent.filter(({ payloadType }) => payloadType === 101)
    expect(new Set(digit.map(({ timestamp }) => timestamp)).size).toBe(1)
    expect(b.sent.slice(0, 7).map(({ payloadType }) => payloadType)).toEqual([0, 0, 101, 101, 101, 101, 101])
  })

  it('sends no digits if the far end does not support them or must not receive', () => {
    const results: boolean[] = []
    const send = () => a.session.sendDigits('1', (sent) => results.push(sent))
    send()
    a.set({ telephoneEvent: undefined })
    send()
    a.set({ direction: 'recvonly' })
    send()
    expect(results).toEqual([false, false, false])
  })

  it('reports digits instead of forwarding them, and closes up their numbers', () => {
    join()
    a.hear()
    for (const [duration, end] of [
      [400, false],
      [800, true],
      [800, true],
      [800, true],
    ] as const) {
      a.hearEvent(3, 8000, duration, end)
    }
    a.hear()
    expect(a.events.filter(({ kind }) => kind === 'digit')).toEqual([
      { kind: 'digit', digit: '3', durationMs: 100, by: 'event' },
    ])
    expect(b.sent.map(({ payloadType }) => payloadType)).toEqual([0, 0])
    expect(discontinuities(b.sent)).toEqual([])
  })

  it('accepts a changed payload type for events during the call', () => {
    a.set()
    a.hearEvent(1, 8000, 800, true, 101)
    a.set({}, { telephoneEvent: 126 })
    a.hearEvent(2, 16_000, 800, true, 101)
    a.hearEvent(3, 24_000, 800, true, 126)
    expect(a.events.flatMap((event) => (event.kind === 'digit' ? [event.digit] : []))).toEqual(['1', '3'])
    expect(a.session.stats().refused['payload-type']).toBe(1)
  })

  it('follows a change of SSRC from the latched source only', () => {
    join()
    time.pass(100, () => a.hear())
    a.next = { sequence: 40_000, timestamp: 9, ssrc: 0xbeef }
    a.hear(undefined, { from: '203.0.113.66' })
    time.pass(100, () => a.hear())
    expect(b.sent).toHaveLength(10)
    expect(discontinuities(b.sent)).toEqual([])
    expect(a.session.stats()).toMatchObject({ received: 10, lost: 0, refused: { source: 1 } })
  })

  it('receives digits of a new SSRC whose timestamps are behind the old ones', () => {
    a.set()
    a.hearEvent(1, 16_000, 800, true)
    a.next.ssrc = 0xbeef
    a.hearEvent(2, 15_000, 800, true)
    expect(a.events.flatMap((event) => (event.kind === 'digit' ? [event.digit] : []))).toEqual(['1', '2'])
  })

  it('does not learn from comfort noise that was not negotiated', () => {
    a.set()
    a.hear(Buffer.of(40), { payloadType: 13 })
    expect([a.events, a.session.stats().refused['payload-type']]).toEqual([[], 1])
  })

  it('closes up packets not forwarded while two were detached for a moment', () => {
    join()
    time.pass(100, () => a.hear())
    a.session.detach()
    time.pass(200, () => a.hear())
    a.session.join(b.session)
    time.pass(100, () => a.hear())
    expect(b.sent).toHaveLength(10)
    expect(discontinuities(b.sent)).toEqual([])
    expect((b.sent[5]!.timestamp - b.sent[4]!.timestamp) | 0).toBe(220 * 8)
  })

  it('holds for twelve minutes without packets or time-out, and then resumes in both directions', () => {
    join()
    time.pass(100, () => [a.hear(), b.hear()])
    a.set({ direction: 'inactive' })
    const before = a.sent.length
    b.session.promptMixer.play(9, sine(440, 1000), 8000, 0, 0)
    time.pass(12 * minute, (step) => step % 50 === 0 && b.hear())
    expect(a.sent).toHaveLength(before)
    expect(a.events.filter(({ kind }) => kind === 'timeout')).toEqual([])
    a.set({ direction: 'sendrecv' })
    b.session.promptMixer.stop(9)
    time.pass(100, () => [a.hear(), b.hear()])
    expect(a.sent.slice(before).filter(({ payload }) => payload[0] === 0x2a)).toHaveLength(5)
    expect(b.sent.at(-1)?.payload[0]).toBe(0x2a)
    expect([discontinuities(a.sent), discontinuities(b.sent)]).toEqual([[], []])
  })

  it.each([
    ['sendonly', true, false],
    ['recvonly', false, true],
    ['inactive', false, false],
  ] as const)('with the local direction %s, audio is sent: %s, received: %s', (direction, out, into) => {
    join()
    a.set({ direction })
    time.pass(200)
    a.sent.length = 0
    b.hear()
    a.hear()
    expect([a.sent.length > 0, b.sent.length > 0]).toEqual([out, into])
  })

  it('waits through a hold by a far end that only sends, and sends nothing', () => {
    join()
    a.hear()
    a.set({ direction: 'recvonly' })
    time.pass(5 * minute, (step) => step % 50 === 0 && b.hear())
    expect(a.events.filter(({ kind }) => kind === 'timeout')).toEqual([])
    a.set()
    time.pass(minute + 1000)
    expect(a.events.at(-1)).toEqual({ kind: 'timeout', phase: 'media' })
  })

  it('treats the address 0.0.0.0 as hold, and keeps the learnt source', () => {
    join()
    a.hear(undefined, { port: 61_000 })
    a.set({ address: '0.0.0.0' })
    time.pass(2 * minute, () => b.hear())
    expect(a.sent).toEqual([])
    expect(a.events.filter(({ kind }) => kind === 'timeout')).toEqual([])
    a.set()
    b.hear()
    expect(a.sent.at(-1)?.to).toBe('192.0.2.1:61000')
  })

  it('plays a prompt unheard during hold', () => {
    a.set({ direction: 'inactive' })
    a.session.promptMixer.play(1, sine(440, 500), 8000, 1, 0)
    time.pass(1000)
    expect([a.sent, a.played]).toEqual([[], [1]])
  })

  it('reports a far end that never sends, and one that stops; comfort noise and RTCP count as activity', () => {
    a.set()
    time.pass(30_500)
    expect(a.events).toEqual([{ kind: 'timeout', phase: 'start' }])
    a.hear()
    time.pass(50_000)
    a.hear(Buffer.of(40), { payloadType: 13 })
    time.pass(50_000)
    const report = buildRtcp([{ kind: 'receiver', ssrc: 0xa11ce, blocks: [] }])
    a.session.receiveRtcp(time.now, report, '192.0.2.1', 4001)
    time.pass(59_000)
    expect(a.events.filter(({ kind }) => kind === 'timeout')).toHaveLength(1)
    time.pass(2000)
    expect(a.events.at(-1)).toEqual({ kind: 'timeout', phase: 'media' })
  })

  it("sends reports to the port after RTP's, or to the source of the far end's reports", () => {
    a.set()
    time.pass(3000)
    expect(a.rtcp[0]).toMatchObject({ to: '192.0.2.1:4001', muxed: false })
    const report = buildRtcp([{ kind: 'receiver', ssrc: 0xa11ce, blocks: [] }])
    a.session.receiveRtcp(time.now, Buffer.from(report), '203.0.113.66', 7000)
    a.session.receiveRtcp(time.now, Buffer.from(report), '192.0.2.1', 7000)
    a.session.receiveRtcp(time.now, Buffer.of(0x80, 200, 0, 0), '192.0.2.1', 7000)
    time.pass(6000)
    expect(a.rtcp.at(-1)).toMatchObject({ to: '192.0.2.1:7000' })
    expect(a.session.stats().refused).toMatchObject({ source: 1, malformed: 1 })
  })

  it.each([true, false])(
    'sends no report to a private address behind NAT (one port for both: %s)',
    (rtcpMux) => {
      a.set({ rtcpMux, direction: 'recvonly', learnFrom: ['203.0.113.5'] })
      time.pass(20_000)
      expect(a.rtcp).toEqual([])
      a.hear(undefined, { from: '203.0.113.5' })
      time.pass(20_000)
      expect(a.rtcp[0]?.to).toBe(rtcpMux ? '203.0.113.5:4000' : '203.0.113.5:4001')
    },
  )

  it('ignores STUN from any source, also as activity', () => {
    a.set()
    const binding = Buffer.alloc(20)
    binding.writeUInt16BE(1, 0)
    binding.writeUInt32BE(0x2112a442, 4)
    for (const address of ['192.0.2.1', '203.0.113.66']) {
      a.session.receive(time.now, Buffer.from(binding), address, 4000)
      a.session.receiveRtcp(time.now, Buffer.from(binding), address, 4001)
    }
    const { received, refused } = a.session.stats()
    expect([received, ...Object.values(refused)]).toEqual([0, 0, 0, 0, 0, 0, 0])
    // Without the cookie it is an unknown packet.
    a.session.receive(time.now, Buffer.alloc(20), '192.0.2.1', 4000)
    expect(a.session.stats().refused.malformed).toBe(1)
  })

  it('separates RTP and RTCP on one port, and only RTP determines the source', () => {
    a.set({ rtcpMux: true })
    const report = buildRtcp([{ kind: 'receiver', ssrc: 0xa11ce, blocks: [] }])
    a.session.receive(time.now, report, '192.0.2.1', 7000)
    time.pass(3000)
    expect(a.rtcp[0]).toMatchObject({ to: '192.0.2.1:4000', muxed: true })
    expect(a.events).toEqual([])
    expect(a.session.stats().received).toBe(0)
  })

  it('detaches, sends BYE and cancels digits when closed', () => {
    join()
    let done: boolean | undefined
    a.session.sendDigits('123', (sent) => {
      done = sent
    })
    a.session.close(time.now)
    expect(done).toBe(false)
    expect(parseRtcp(a.rtcp.at(-1)!.packet)?.at(-1)).toEqual({ kind: 'bye', ssrcs: [0x5e1f] })
    b.hear()
    expect(a.sent).toEqual([])
  })

  it('leaves its partner when joined to another', () => {
    join()
    const c = time.line('203.0.113.1')
    c.set()
    time.pass(100)
    c.session.join(a.session)
    c.sent.length = 0
    a.hear()
    b.hear()
    expect([b.sent.length, c.sent.length, a.sent.length]).toEqual([0, 1, 0])
  })

  it('survives any bytes', () => {
    join()
    let state = 7
    const random = () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
      return state >>> 8
    }
    for (let i = 0; i < 20_000; i++) {
      const packet = Buffer.from(Array.from({ length: random() % 80 }, () => random() & 0xff))
      if (packet.length > 1) {
        packet[0] = 0x80 | (packet[0]! & 0x3f)
        packet[1] = [0, 101, 13, 200, 201, 202, 203, 205][random() % 8]!
      }
      a.session.receive(time.now, packet, '192.0.2.1', 4000)
    }
    const { received, refused } = a.session.stats()
    expect(received).toBeGreaterThan(500)
    expect(refused.malformed).toBeGreaterThan(1000)
  })
})
