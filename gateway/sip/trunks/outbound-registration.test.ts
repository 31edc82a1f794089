import pino from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { OutboundRegistration, type RegisterResult } from './outbound-registration.ts'

const setUp = () => {
  const clock = new FakeClock()
  const sent: { expiresMs: number; done: (result: RegisterResult) => void }[] = []
  const logged: { msg: string; level: number }[] = []
  const made = { random: 0.5 }
  const registration = new OutboundRegistration({
    expiresMs: 3_600_000,
    send: (expiresMs, done) => sent.push({ expiresMs, done }),
    clock,
    random: () => made.random,
    log: pino({}, { write: (line: string) => logged.push(JSON.parse(line)) }),
  })
  const final = (status: number, more: Partial<Extract<RegisterResult, { kind: 'final' }>> = {}) =>
    sent.at(-1)!.done({ kind: 'final', status, ...more })
  const start = () => {
    registration.start(100)
    clock.advance(100)
  }
  return Object.assign(made, { clock, sent, logged, registration, final, start })
}
let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})
/** When the next REGISTER goes out, in ms from now. */
const untilNext = () => {
  const before = t.sent.length
  const from = t.clock.now()
  for (let ms = 0; ms < 100_000_000 && t.sent.length === before; ms += 50) t.clock.advance(50)
  return t.clock.now() - from
}

describe('a registration with a carrier', () => {
  it('begins at its scheduled time', () => {
    t.registration.start(100)
    t.clock.advance(99)
    expect([t.sent.length, t.registration.state]).toEqual([0, 'registering'])
    t.clock.advance(1)
    expect(t.sent.map(({ expiresMs }) => expiresMs)).toEqual([3_600_000])
  })

  it.each([
    [0, 270_000],
    [0.5, 300_000],
    [0.999, 330_000],
  ])('is refreshed at about half of the granted time, not the requested one (chance %d)', (random, ms) => {
    t.random = random
    t.start()
    t.final(200, { grantedMs: 600_000 })
    expect(t.registration.state).toBe('registered')
    expect(Math.abs(untilNext() - ms)).toBeLessThan(200)
    // The refresh itself changes nothing.
    expect(t.registration.state).toBe('registered')
    t.final(200, { grantedMs: 600_000 })
    expect(t.logged.filter(({ msg }) => msg === 'registered with the carrier')).toHaveLength(1)
  })

  it('assumes the requested time if the carrier grants none, and limits the rate for short times', () => {
    t.start()
    t.final(200)
    expect(Math.abs(untilNext() - 1_800_000)).toBeLessThan(100)
    t.final(200, { grantedMs: 8_000 })
    expect(untilNext()).toBe(4_000)
    t.final(200, { grantedMs: 0 })
    expect(t.registration.state).toBe('backoff')
  })

  it('is repeated at once with a longer time after 423', () => {
    t.start()
    t.final(423, { minExpiresMs: 7_200_000 })
    expect(t.sent.map(({ expiresMs }) => expiresMs)).toEqual([3_600_000, 7_200_000])
    // The same again makes no circle, and nothing unreasonable is asked for.
    t.final(423, { minExpiresMs: 7_200_000 })
    expect([t.sent.length, t.registration.state]).toEqual([2, 'backoff'])
    untilNext()
    t.final(423, { minExpiresMs: 10 ** 9 })
    expect([t.sent.length, t.registration.state]).toEqual([3, 'backoff'])
  })

  it('slows down if the carrier requires ever longer times', () => {
    t.start()
    for (let n = 1; t.registration.state !== 'backoff' && n < 50; n++)
      t.final(423, { minExpiresMs: 3_600_000 + n })
    expect(t.sent).toHaveLength(4)
    // It still asks for what the carrier wanted last, each time after a longer wait.
    expect(untilNext()).toBe(3_000)
    t.final(423, { minExpiresMs: 7_200_000 })
    expect([t.sent.length, t.registration.state]).toEqual([5, 'backoff'])
    expect(untilNext()).toBe(6_000)
    expect(t.sent.at(-1)).toMatchObject({ expiresMs: 7_200_000 })
    t.final(200)
    expect(t.registration.state).toBe('registered')
  })

  it.each([401, 403, 404, 407, 603])('stops after three %i, and the carrier gets no calls', (status) => {
    t.start()
    for (const _ of [1, 2]) {
      t.final(status)
      expect(t.registration.state).toBe('backoff')
      untilNext()
    }
    t.final(status)
    expect(t.registration.state).toBe('rejected')
    expect(t.clock.running).toBe(0)
    expect(t.logged.at(-1)).toMatchObject({ level: 50, status, times: 3 })
  })

  it('counts only consecutive rejections', () => {
    t.start()
    t.final(403)
    untilNext()
    t.final(403)
    untilNext()
    t.final(200)
    for (const _ of [1, 2]) {
      untilNext()
      t.final(403)
    }
    expect(t.registration.state).toBe('backoff')
  })

  it.each([408, 503])('restarts the count after a %i, which has another meaning', (status) => {
    t.start()
    for (const each of [403, status, 403, status, 403, 403]) {
      t.final(each)
      expect(t.registration.state).toBe('backoff')
      untilNext()
    }
    t.final(403)
    expect(t.registration.state).toBe('rejected')
  })

  it('restarts the count after a missing response', () => {
    t.start()
    t.final(403)
    untilNext()
    t.final(403)
    untilNext()
    t.sent.at(-1)!.done({ kind: 'failed', why: 'no connection' })
    untilNext()
    t.final(403)
    expect(t.registration.state).toBe('backoff')
  })

  it.each([408, 480, 500, 503])('is retried with growing delays after a %i, up to five minutes', (status) => {
    t.start()
    const waits = Array.from({ length: 10 }, () => {
      t.final(status)
      expect(t.registration.state).toBe('backoff')
      return untilNext()
    })
    expect(waits.slice(0, 4)).toEqual([3_000, 6_000, 12_000, 24_000])
    expect(waits.slice(-2)).toEqual([225_000, 225_000])
    t.final(200)
    expect(t.registration.state).toBe('registered')
    untilNext()
    t.final(status)
    expect(untilNext()).toBe(3_000)
  })

  it('waits for the Retry-After, and at least for the usual delay', () => {
    t.start()
    t.final(503, { retryAfterMs: 120_000 })
    expect(untilNext()).toBe(120_000)
    t.final(503, { retryAfterMs: 0 })
    expect(untilNext()).toBe(6_000)
  })

  it('survives an agent that is unavailable', () => {
    t.start()
    t.sent.at(-1)!.done({ kind: 'failed', why: 'no connection' })
    expect(t.registration.state).toBe('backoff')
    untilNext()
    t.final(200)
    expect(t.registration.state).toBe('registered')
  })
})

describe('the removal of a registration', () => {
  const stopped = () => {
    const ended: string[] = []
    t.registration.stop(() => ended.push('done'))
    return ended
  }

  it('is sent to the carrier', () => {
    t.start()
    t.final(200)
    const ended = stopped()
    expect([t.sent.at(-1)?.expiresMs, ended, t.registration.state]).toEqual([0, [], 'disabled'])
    t.final(200)
    expect([ended, t.clock.running]).toEqual([['done'], 0])
    expect(stopped()).toEqual(['done'])
    expect(t.sent).toHaveLength(2)
  })

  it('waits for the pending REGISTER', () => {
    t.start()
    const ended = stopped()
    expect(t.sent).toHaveLength(1)
    t.final(200)
    expect(t.sent.map(({ expiresMs }) => expiresMs)).toEqual([3_600_000, 0])
    t.final(481)
    expect([ended, t.clock.running]).toEqual([['done'], 0])
  })

  it('is not sent to a carrier without a registration', () => {
    t.start()
    t.final(403)
    expect([stopped(), t.sent.length, t.clock.running]).toEqual([['done'], 1, 0])
  })

  it('is sent during failed refreshes until the granted time is over', () => {
    t.start()
    t.final(200, { grantedMs: 100_000 })
    untilNext()
    t.final(500)
    stopped()
    expect(t.sent.at(-1)?.expiresMs).toBe(0)
  })
})
