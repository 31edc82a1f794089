import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl, ConnectOptions } from '../../../handlers/verbs.ts'
import type { Referral } from '../leg/referral.ts'
import { settle } from '../testing/calls-fixture.ts'
import { setUp } from '../testing/connect-fixture.ts'

let t: Awaited<ReturnType<typeof setUp>>
beforeEach(async () => {
  t = await setUp()
})

describe('a confirmation', () => {
  let asked: CallControl[]
  let decide: PromiseWithResolvers<void>
  const confirm = (callee: CallControl) => {
    asked.push(callee)
    return decide.promise
  }
  beforeEach(() => {
    asked = []
    decide = Promise.withResolvers<void>()
  })

  it('runs with the verbs of the callee while others ring and the caller waits', async () => {
    const [a, b] = await t.fork([[t.to('sip:a@y', { confirm, sendDigits: '7' }), t.to('sip:b@y')]])
    a!.leg.answered()
    await settle()
    expect(asked[0]?.info).toMatchObject({
      direction: 'outbound',
      type: 'sip',
      to: 'sip:a@y',
      projectId: 'p',
    })
    expect(asked[0]?.info.from).toBe('sip:caller@carrier.example')
    expect([a!.far.requests, b!.far.requests, t.bridges.count]).toEqual([['digits 7'], [], 0])
    expect(t.a.port.playing).toBeDefined()
    decide.resolve()
    await settle()
    expect([b!.far.requests, t.bridges.count]).toEqual([['end answered_elsewhere'], 1])
    expect([t.a.port.playing, asked[0]?.signal.aborted]).toEqual([undefined, true])
    t.a.leg.digit('1')
    expect(a!.far.requests).toEqual(['digits 7', 'digits 1'])
    a!.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { kind: 'connected', endedBy: 'callee' } }])
    t.a.call.end({ code: 'normal' })
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('runs on one telephone of an endpoint when the others have stopped ringing', async () => {
    t.registered.push({ kind: 'sip', uri: 'sip:p@10.0.0.1' }, { kind: 'sip', uri: 'sip:p@10.0.0.2' })
    const [one, two] = await t.fork([[t.to('/public/phone', { confirm })], [t.to('sip:b@y')]])
    two!.leg.answered()
    await settle()
    expect([one!.far.requests, two!.leg.isEnded, t.outbound.dialled.length]).toEqual([
      ['end answered_elsewhere'],
      false,
      2,
    ])
    decide.resolve()
    await settle()
    expect([t.bridges.count, t.outcomes]).toEqual([1, []])
  })

  it('is inaudible to the caller, even after early media', async () => {
    const [a] = await t.fork([[t.to('sip:a@y', { confirm })]])
    a!.leg.early(true)
    await settle()
    expect(t.bridges.count).toBe(1)
    a!.leg.answered()
    await settle()
    expect([t.bridges.count, t.a.port.playing !== undefined]).toEqual([0, true])
  })

  it.each<[string, () => void | Promise<void>, string]>([
    ['its document fails', () => decide.reject(new Error('no')), 'declined declined'],
    ['its document hangs up', () => asked[0]!.hangup(), 'declined declined'],
    ['the callee hangs up', () => t.outbound.dialled[0]!.leg.ended({ code: 'normal' }), 'declined declined'],
    ['its time is over', () => t.clock.advance(5_000), 'no-answer no_answer'],
  ])('fails if %s, and the next step is tried', async (_, happens, outcome) => {
    const steps = [[t.to('sip:a@y', { confirm })], [t.to('sip:b@y')]]
    const [a] = await t.fork(steps, { confirmTimeoutMs: 5_000 })
    a!.leg.answered()
    await settle()
    await happens()
    await settle()
    expect([a!.leg.isEnded, asked[0]?.signal.aborted]).toEqual([true, true])
    expect(t.states.slice(0, 4)).toEqual([
      ...['initiated', 'answered'].map((state) => `sip:a@y ${state}`),
      expect.stringMatching(`^sip:a@y ended ${outcome} \\d+$`),
      'sip:b@y initiated',
    ])
    decide.resolve()
    t.outbound.dialled[1]!.leg.answered()
    await settle()
    expect(t.bridges.count).toBe(1)
  })

  it('reports declined if it fails without another callee', async () => {
    const [a] = await t.fork([[t.to('sip:a@y', { confirm })]])
    a!.leg.answered()
    await settle()
    decide.reject(new Error('no'))
    await settle()
    expect(t.outcomes).toMatchObject([
      {
        result: { kind: 'failed', reason: 'declined', callee: { to: 'sip:a@y' } },
        cause: { code: 'declined' },
      },
    ])
    expect(t.left()).toEqual([0, 1, 1])
  })

  it('ends when another callee wins, and when the caller hangs up', async () => {
    const [a, b] = await t.fork([[t.to('sip:a@y', { confirm }), t.to('sip:b@y', { confirm })]])
    a!.leg.answered()
    b!.leg.answered()
    await settle()
    decide.resolve()
    await settle()
    expect(b!.far.requests).toEqual(['end answered_elsewhere'])
    expect(t.states.at(-1)).toBe('sip:b@y ended canceled answered_elsewhere 0')
    const other = await setUp()
    const [c] = await other.fork([[other.to('sip:c@y', { confirm: () => new Promise(() => {}) })]])
    c!.leg.answered()
    await settle()
    other.a.leg.ended({ code: 'normal' })
    await settle()
    expect(other.states.at(-1)).toBe('sip:c@y ended canceled canceled 0')
    expect(other.left()).toEqual([0, 0, 0])
  })
})

describe('a transfer', () => {
  const referral: Referral = { to: 'sip:c@y', progress: () => {} }
  /** Connects a callee after a confirmation. The callee then requests a transfer. */
  const transferred = async (more: Partial<ConnectOptions> = {}) => {
    const confirm = async () => {
      expect(t.outbound.dialled[0]!.leg.referred(referral)).toBe(false)
    }
    const [b] = await t.fork([[t.to('sip:b@y', { confirm })]], more)
    b!.leg.answered()
    await settle()
    expect(b!.leg.referred(referral)).toBe(true)
    await settle()
    return { b: b!, c: t.outbound.dialled[1]! }
  }

  it('is possible after a confirmation, and the star parts the caller from the target', async () => {
    const { b, c } = await transferred({ hangupOnStar: true })
    c.leg.answered()
    await settle()
    expect(b.far.requests).toEqual(['end normal'])
    t.a.leg.digit('*')
    await settle()
    expect(c.far.requests).toEqual(['end normal'])
    expect(t.outcomes).toMatchObject([
      { result: { kind: 'connected', endedBy: 'star', callee: { to: 'sip:c@y' } } },
    ])
  })

  it('is canceled by a signal, with the leg that has requested it', async () => {
    const giveUp = new AbortController()
    const { b, c } = await transferred({ signal: giveUp.signal })
    giveUp.abort()
    await settle()
    expect([b.far.requests, c.far.requests]).toEqual([['end normal'], ['end canceled']])
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'stopped' } }])
    expect([t.a.leg.isAnswered, ...t.left()]).toEqual([true, 0, 1, 1])
  })
})
