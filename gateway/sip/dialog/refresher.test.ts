import { describe, expect, it } from 'vitest'
import { type DialogBench, establish, farSdp } from '../testing/dialog-rig.ts'
import type { TimerTerms } from './session-timer.ts'

const settings = { expiresMs: 1_800_000, minMs: 90_000 }
const ours = { expiresMs: 900_000, refresher: 'us' } as const
const theirs = { expiresMs: 900_000, refresher: 'them' } as const
const alone = { ...ours, isOneSided: true } as const
const timed = (
  terms: TimerTerms,
  changes: { allowsUpdate?: boolean; outbound?: boolean } = {},
): DialogBench =>
  establish({
    parts: { timer: { settings, terms }, allowsUpdate: changes.allowsUpdate ?? true },
    outbound: changes.outbound,
  })
const half = 450_000
const last = (bench: DialogBench) => bench.dialog.requests.at(-1)!
const methods = (bench: DialogBench) => bench.dialog.requests.map(({ method }) => method)
const agreed = { 'Session-Expires': '900;refresher=uac' }

describe('a session refresh by the gateway', () => {
  it('is an UPDATE without a description at half of the interval, repeatedly', () => {
    const bench = timed(ours)
    for (let round = 1; round <= 4; round++) {
      bench.clock.advance(half)
      expect(bench.dialog.requests).toHaveLength(round)
      expect(last(bench)).toMatchObject({ method: 'UPDATE', body: undefined })
      expect(last(bench).headers).toMatchObject({
        'Session-Expires': '900;refresher=uac',
        'Min-SE': '90',
        Supported: 'timer',
      })
      last(bench).reply(200, { headers: agreed })
    }
    expect(bench.leg.isAnswered).toBe(true)
  })

  it('is a re-INVITE with the unchanged description if the far side does not support UPDATE', () => {
    const bench = timed(ours, { allowsUpdate: false })
    const before = bench.media.local
    const updates = bench.port.farUpdates.length
    bench.clock.advance(half)
    expect(last(bench)).toMatchObject({ method: 'INVITE', body: before })
    last(bench).reply(180)
    last(bench).reply(200, { body: farSdp(), headers: agreed })
    expect([bench.media.local, bench.port.farUpdates.length, bench.media.exchange.isStable]).toEqual([
      before,
      updates,
      true,
    ])
    bench.clock.advance(half)
    expect(methods(bench)).toEqual(['INVITE', 'INVITE'])
  })

  it('detects a hold in the answer', () => {
    const bench = timed(ours, { allowsUpdate: false })
    bench.clock.advance(half)
    last(bench).reply(200, { body: farSdp({ version: 2, lines: ['a=inactive'] }), headers: agreed })
    expect(bench.heard).toEqual(['answered', 'held'])
  })

  it('is a re-INVITE if the far side rejects UPDATE although it allows it', () => {
    const bench = timed(ours)
    bench.clock.advance(half)
    last(bench).reply(405)
    bench.clock.advance(0)
    last(bench).reply(200, { body: farSdp(), headers: agreed })
    bench.clock.advance(half)
    expect(methods(bench)).toEqual(['UPDATE', 'INVITE', 'INVITE'])
  })

  it('uses a longer interval after a 422', () => {
    const bench = timed(ours)
    bench.clock.advance(half)
    last(bench).reply(422, { headers: { 'Min-SE': '1200' } })
    bench.clock.advance(0)
    expect(last(bench).headers).toMatchObject({ 'Session-Expires': '1200;refresher=uac', 'Min-SE': '1200' })
    last(bench).reply(200, { headers: { 'Session-Expires': '1200;refresher=uac' } })
    bench.clock.advance(600_000)
    expect(bench.dialog.requests).toHaveLength(3)
  })

  it('does not follow repeated 422s for ever', () => {
    const bench = timed(ours)
    bench.clock.advance(half)
    for (let round = 0; round < 4; round++) {
      last(bench).reply(422, { headers: { 'Min-SE': '1200' } })
      bench.clock.advance(0)
    }
    expect(bench.dialog.requests).toHaveLength(4)
    bench.clock.advance(10_000)
    expect(bench.dialog.requests).toHaveLength(5)
  })

  it('is not repeated many times a second after repeated 491s', () => {
    const bench = timed(ours, { allowsUpdate: false, outbound: false })
    bench.clock.advance(half)
    const before = bench.clock.now()
    for (let round = 0; round < 7; round++) {
      const sent = bench.dialog.requests.length
      last(bench).reply(491)
      while (bench.dialog.requests.length === sent) bench.clock.advance(1_000)
    }
    // Five attempts come soon, and the others ten seconds apart.
    expect(bench.clock.now() - before).toBe(5 * 1_000 + 2 * 10_000)
  })

  it.each([
    [true, 3_050],
    [false, 1_000],
  ])('is repeated after a 491; Call-ID of the gateway: %s, wait: %i ms', (outbound, ms) => {
    const bench = timed(ours, { allowsUpdate: false, outbound })
    bench.clock.advance(half)
    last(bench).reply(491)
    expect(bench.media.exchange.isStable).toBe(true)
    bench.clock.advance(ms - 1)
    expect(bench.dialog.requests).toHaveLength(1)
    bench.clock.advance(1)
    expect(bench.dialog.requests).toHaveLength(2)
  })

  it('continues if a far side without session timers rejects it, because the far side is reachable', () => {
    const bench = timed(alone, { allowsUpdate: false })
    for (let round = 1; round <= 4; round++) {
      bench.clock.advance(half)
      expect(bench.dialog.requests).toHaveLength(round)
      last(bench).reply(488)
    }
    // A peer that a proxy cannot reach does not count as reachable.
    for (let at = 0; at < 2 * half; at += 10_000) {
      bench.clock.advance(10_000)
      if (bench.dialog.requests.length > 4 && !bench.leg.isEnded) last(bench).reply(503)
    }
    expect(bench.heard.at(-1)).toBe('ended session_expired by us')
  })

  it.each([481, 408])(
    'ends the call if the far side answers %i, because the far side has lost the call',
    (status) => {
      const bench = timed(ours)
      bench.clock.advance(half)
      last(bench).reply(status)
      expect(bench.heard.at(-1)).toBe('ended unreachable by us')
      expect(bench.dialog.byes).toHaveLength(1)
      bench.dialog.byes[0]?.()
      expect([bench.released(), bench.clock.running]).toEqual([true, 0])
    },
  )

  it('ends the call before the session expires if no refresh succeeds', () => {
    const bench = timed(ours)
    bench.clock.advance(half)
    last(bench).reply(500)
    bench.clock.advance(10_000)
    last(bench).fail(new Error('no answer'))
    bench.clock.advance(868_000 - 460_000)
    expect(bench.heard.at(-1)).toBe('ended session_expired by us')
    expect(bench.dialog.byes).toHaveLength(1)
  })

  it('is left out while an offer is pending, because the far side is active', () => {
    const bench = timed(ours, { allowsUpdate: false })
    bench.receive('INVITE')
    bench.clock.advance(half - 1)
    bench.receive('INVITE')
    // The 200 to the peer's refresh has restarted the timer, so the gateway's falls due later.
    bench.clock.advance(1)
    expect(bench.dialog.requests).toHaveLength(0)
  })

  it('keeps its terms if the answer has none', () => {
    const bench = timed(ours)
    bench.clock.advance(half)
    last(bench).reply(200)
    bench.clock.advance(half)
    expect(bench.dialog.requests).toHaveLength(2)
  })
})

describe('a session refresh by the peer', () => {
  const able = { supported: 'timer', 'session-expires': '900;refresher=uac' }

  it.each(['INVITE', 'UPDATE'])('by %s gets its terms each time', (method) => {
    const bench = timed(theirs)
    for (let round = 0; round < 5; round++) {
      bench.clock.advance(750_000)
      const [sent] = bench.receive(method, method === 'INVITE' ? farSdp() : '', able).sent
      expect(sent).toMatchObject({ status: 200, headers: { ...agreed, Require: 'timer' } })
    }
    expect(bench.leg.isAnswered).toBe(true)
    expect(bench.dialog.requests).toEqual([])
  })

  it('ends the call with a BYE and its reason if it stops', () => {
    const bench = timed(theirs)
    bench.clock.advance(867_999)
    expect(bench.leg.isEnded).toBe(false)
    bench.clock.advance(1)
    expect(bench.heard.at(-1)).toBe('ended session_expired by us')
    expect(bench.dialog.byes).toHaveLength(1)
    expect(bench.dialog.byeHeaders[0]?.Reason).toBe('Q.850;cause=102;text="RECOVERY_ON_TIMER_EXPIRE"')
  })

  it('with a too short interval is rejected, and the old timer continues', () => {
    const bench = timed(theirs)
    bench.clock.advance(400_000)
    const [refused] = bench.receive('UPDATE', '', { ...able, 'session-expires': '60' }).sent
    expect(refused).toMatchObject({ status: 422, headers: { 'Min-SE': '90' } })
    bench.clock.advance(467_999)
    expect(bench.leg.isEnded).toBe(false)
    bench.clock.advance(1)
    expect(bench.leg.isEnded).toBe(true)
  })

  it('is not done by a rejected offer', () => {
    const bench = timed(theirs)
    bench.clock.advance(400_000)
    expect(bench.receive('INVITE', farSdp({ version: 2, formats: '18' }), able).statuses).toEqual([488])
    bench.clock.advance(468_000)
    expect(bench.leg.isEnded).toBe(true)
  })

  it('can make the gateway the refresher', () => {
    const bench = timed(theirs)
    bench.receive('UPDATE', '', { ...able, 'session-expires': '900;refresher=uas' })
    bench.clock.advance(half)
    expect(methods(bench)).toEqual(['UPDATE'])
  })
})

describe('a pending re-INVITE of the gateway', () => {
  const inviting = () => {
    const bench = timed(ours, { allowsUpdate: false })
    bench.clock.advance(half)
    return bench
  }

  it('rejects the peer’s re-INVITE with 491, with or without an offer', () => {
    const bench = inviting()
    expect(bench.receive('INVITE', farSdp({ version: 2 })).statuses).toEqual([491])
    expect(bench.receive('INVITE').statuses).toEqual([491])
    expect(bench.receive('UPDATE', farSdp({ version: 2 })).statuses).toEqual([491])
    expect(bench.receive('UPDATE').statuses).toEqual([200])
  })

  it('stays pending after an unreadable body', () => {
    const bench = inviting()
    expect(bench.receive('UPDATE', 'x', { 'content-type': 'text/plain' }).statuses).toEqual([415])
    expect(bench.media.isWaiting).toBe(true)
    const part = farSdp({ version: 2, address: '192.0.2.20' })
    const body = `--b\r\nContent-Type: application/sdp\r\n\r\n${part}\r\n--b--\r\n`
    last(bench).reply(200, { body, headers: { ...agreed, 'Content-Type': 'multipart/mixed;boundary=b' } })
    expect(bench.port.far?.address).toBe('192.0.2.20')
  })

  it('does not delay a BYE of the gateway, and its answer is then ignored', () => {
    const bench = inviting()
    bench.leg.end({ code: 'normal' })
    expect(bench.dialog.byes).toHaveLength(1)
    last(bench).reply(200, { body: farSdp({ version: 2, address: '192.0.2.20' }) })
    expect(bench.port.far?.address).toBe('192.0.2.9')
    bench.dialog.byes[0]?.()
    expect([bench.released(), bench.port.closed, bench.clock.running]).toEqual([true, true, 0])
  })

  it('ends with a BYE of the far side', () => {
    const bench = inviting()
    bench.dialog.emit('destroy', {}, 'normal release')
    last(bench).reply(487)
    expect(bench.heard.at(-1)).toBe('ended normal by far')
    expect([bench.released(), bench.port.closed, bench.clock.running]).toEqual([true, true, 0])
  })

  it('changes nothing if its answer is unusable', () => {
    const bench = inviting()
    last(bench).reply(200, { body: farSdp({ version: 2, formats: '18' }), headers: agreed })
    expect([bench.media.exchange.isStable, bench.leg.isAnswered]).toEqual([true, true])
    bench.clock.advance(half)
    expect(bench.dialog.requests).toHaveLength(2)
  })
})
