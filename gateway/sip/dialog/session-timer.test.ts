import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import {
  minimumOf,
  oneSidedTimer,
  readSessionExpires,
  SessionTimer,
  timerAgreed,
  timerAnswer,
  timerOffer,
} from './session-timer.ts'

const settings = { expiresMs: 1_800_000, minMs: 90_000 }
const message = (headers: Record<string, string>) => ({ get: (name: string) => headers[name] })
const ours = { expiresMs: 900_000, refresher: 'us' } as const
const theirs = { expiresMs: 900_000, refresher: 'them' } as const

describe('Session-Expires', () => {
  it.each([
    ['1800', { expiresMs: 1_800_000 }],
    ['90;refresher=uac', { expiresMs: 90_000, refresher: 'uac' }],
    [' 90 ; Refresher = UAS ;x=y', { expiresMs: 90_000, refresher: 'uas' }],
    ['90;refresher=none', { expiresMs: 90_000 }],
    ['', 'malformed'],
    ['-5', 'malformed'],
    ['9999999999', 'malformed'],
    ['90, 80', 'malformed'],
  ])('with the value %j is read as %j', (value, expected) => {
    expect(readSessionExpires(message({ 'Session-Expires': value }))).toEqual(expected)
  })

  it('is absent by default, and the minimum is at least 90 s', () => {
    expect(readSessionExpires(message({}))).toBeUndefined()
    expect(['', '30', '120', 'x'].map((value) => minimumOf(message({ 'Min-SE': value })))).toEqual([
      90_000, 90_000, 120_000, 90_000,
    ])
  })
})

describe('a request of the gateway', () => {
  it('has the configured interval, and in a refresh the current interval and roles', () => {
    expect(timerOffer(settings)).toEqual({ 'Session-Expires': '1800', 'Min-SE': '90' })
    expect(timerOffer(settings, ours)).toEqual({ 'Session-Expires': '900;refresher=uac', 'Min-SE': '90' })
    expect(timerOffer(settings, theirs)['Session-Expires']).toBe('900;refresher=uas')
  })

  it('requests the interval that a 422 demands', () => {
    expect(timerOffer(settings, ours, 1_200_000)).toEqual({
      'Session-Expires': '1200;refresher=uac',
      'Min-SE': '1200',
    })
  })

  it.each([
    [{ 'Session-Expires': '600;refresher=uac' }, { expiresMs: 600_000, refresher: 'us' }],
    [{ 'Session-Expires': '600;refresher=uas' }, { expiresMs: 600_000, refresher: 'them' }],
    [{ 'Session-Expires': '600' }, { expiresMs: 600_000, refresher: 'us' }],
    [{}, { expiresMs: 1_800_000, refresher: 'us', isOneSided: true }],
  ] as const)('accepts the answer %j', (headers, expected) => {
    expect(timerAgreed(message(headers), oneSidedTimer(settings))).toEqual(expected)
  })

  it('keeps the timer if the answer to a refresh has no Session-Expires', () => {
    expect(timerAgreed(message({}), ours)).toEqual(ours)
  })
})

describe('a request of the peer', () => {
  const answer = (headers: Record<string, string>, now?: typeof ours | typeof theirs) =>
    timerAnswer(message(headers), settings, now)
  const able = { Supported: 'replaces, Timer' }

  it.each([
    [{}, '1800;refresher=uas'],
    [able, '1800;refresher=uac'],
    [{ ...able, 'Session-Expires': '3600' }, '1800;refresher=uac'],
    [{ ...able, 'Session-Expires': '900' }, '900;refresher=uac'],
    [{ ...able, 'Session-Expires': '900;refresher=uas' }, '900;refresher=uas'],
    [{ Require: 'timer', 'Session-Expires': '900;refresher=uac' }, '900;refresher=uac'],
    [{ ...able, 'Session-Expires': '7200', 'Min-SE': '3600' }, '3600;refresher=uac'],
    [{ 'Session-Expires': '900;refresher=uac' }, '900;refresher=uas'],
    // No peer would understand a 422, and a session of no time would end at once.
    [{ 'Session-Expires': '60' }, '90;refresher=uas'],
    [{ 'Session-Expires': '0' }, '90;refresher=uas'],
  ])('with %j gets %s', (headers, expected) => {
    const result = answer(headers)
    expect('terms' in result && result.headers['Session-Expires']).toBe(expected)
    // The refresher must learn its role (RFC 4028 section 9).
    expect(result.headers.Require).toBe(expected.endsWith('uac') ? 'timer' : undefined)
  })

  it('without the timer extension leaves the timer to the gateway only', () => {
    expect(answer({})).toMatchObject({ terms: { refresher: 'us', isOneSided: true } })
    expect(answer(able)).not.toMatchObject({ terms: { isOneSided: true } })
  })

  it('keeps the previous refresher if it names none', () => {
    expect(answer({ ...able, 'Session-Expires': '900' }, ours)).toMatchObject({ terms: ours })
    expect(answer({ ...able, 'Session-Expires': '900' }, theirs)).toMatchObject({ terms: theirs })
  })

  it('gets 422 with Min-SE below the minimum, and 400 for a malformed value', () => {
    expect(answer({ ...able, 'Session-Expires': '60' })).toEqual({ refuse: 422, headers: { 'Min-SE': '90' } })
    expect(answer({ ...able, 'Session-Expires': 'soon' })).toEqual({ refuse: 400, headers: {} })
  })
})

describe('the session timer', () => {
  let clock: FakeClock
  let events: string[]
  let timer: SessionTimer
  beforeEach(() => {
    clock = new FakeClock()
    events = []
    timer = new SessionTimer(clock, {
      refreshDue: () => events.push('refresh'),
      sessionExpired: () => events.push('expired'),
    })
  })

  it('makes the gateway refresh at half of 15 minutes, for the whole call', () => {
    timer.start(ours)
    for (let round = 0; round < 4; round++) {
      clock.advance(449_999)
      expect(events).toEqual([])
      clock.advance(1)
      expect(events.splice(0)).toEqual(['refresh'])
      timer.start(ours)
    }
  })

  it('ends the session before its time if a refresh gets no answer', () => {
    timer.start(ours)
    clock.advance(900_000 - 32_000)
    expect(events).toEqual(['refresh', 'expired'])
    expect(clock.running).toBe(0)
  })

  it('ends a session that the peer does not refresh 32 s before its time', () => {
    timer.start(theirs)
    clock.advance(867_999)
    timer.start(theirs)
    clock.advance(867_999)
    expect(events).toEqual([])
    clock.advance(1)
    expect(events).toEqual(['expired'])
  })

  it('uses a third of a short interval as margin', () => {
    timer.start({ expiresMs: 90_000, refresher: 'them' })
    clock.advance(60_000)
    expect(events).toEqual(['expired'])
  })

  it('repeats a rejected refresh without extending the session', () => {
    timer.start(ours)
    clock.advance(450_000)
    timer.refreshIn(2_000)
    clock.advance(2_000)
    expect(events).toEqual(['refresh', 'refresh'])
    clock.advance(868_000 - 452_000)
    expect(events.at(-1)).toBe('expired')
  })

  it('stops, and then causes no action', () => {
    timer.start(ours)
    timer.stop()
    timer.refreshIn(1)
    timer.start(undefined)
    expect([clock.running, timer.terms]).toEqual([0, undefined])
  })
})
