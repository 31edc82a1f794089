import { beforeEach, describe, expect, it } from 'vitest'
import type { Referral } from '../leg/referral.ts'
import { settle } from '../testing/calls-fixture.ts'
import { callOf, connectDeps } from '../testing/connect-fixture.ts'
import { type FakeLeg, fakeLeg } from '../testing/fake-legs.ts'
import { type ConnectOutcome, ConnectSession } from './connect-session.ts'

const setUp = () => {
  const fixture = connectDeps()
  const { clock, outbound, deps, bridges } = fixture
  const a = fakeLeg(clock, 'group')
  const { call, ended } = callOf(a.leg, clock)
  const outcomes: ConnectOutcome[] = []
  const statuses: number[] = []
  const referral: Referral = {
    to: 'sip:c@y',
    referredBy: '<sip:r@y>',
    progress: (status) => statuses.push(status),
  }
  /** Connects the caller and a callee. */
  const talking = async (): Promise<FakeLeg> => {
    const options = { steps: [[{ to: 'sip:b@y' }]] }
    void new ConnectSession(deps, call, options).run().then((outcome) => outcomes.push(outcome))
    await settle()
    outbound.dialled[0]!.leg.answered()
    await settle()
    return outbound.dialled[0]!
  }
  const left = () => [bridges.count, clock.running, call.legs.size]
  return { ...fixture, a, call, ended, outcomes, statuses, referral, talking, left }
}

describe('a transfer', () => {
  let t: ReturnType<typeof setUp>
  let b: FakeLeg
  beforeEach(async () => {
    t = setUp()
    b = await t.talking()
  })
  const refer = async (by: FakeLeg) => {
    expect(by.leg.referred(t.referral)).toBe(true)
    await settle()
    return t.outbound.dialled[1]!
  }

  it('by the callee joins the caller with the target', async () => {
    const c = await refer(b)
    expect(t.bridges.count).toBe(0)
    c.leg.early(false)
    await settle()
    // The caller hears ringback.
    expect(t.a.port.playing).toBeDefined()
    c.leg.answered()
    await settle()
    expect(t.statuses).toEqual([180, 200])
    expect(b.far.requests).toEqual(['end normal'])
    expect(t.joined.at(-1)).toEqual([t.a.port, c.port])
    expect(t.a.port.playing).toBeUndefined()
    c.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { kind: 'connected', endedBy: 'callee' } }])
    t.a.leg.ended({ code: 'normal' })
    expect([...t.left(), t.ended.length]).toEqual([0, 0, 0, 1])
  })

  it('by the caller joins the callee with the target, and the call goes on without the caller', async () => {
    const c = await refer(t.a)
    expect(c.request.from).toMatchObject({ uri: 'sip:b@y' })
    expect(c.request.destination.headers).toEqual([{ name: 'Referred-By', value: '<sip:r@y>' }])
    // Many telephones hang up as soon as the gateway accepts the transfer.
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect(t.call.signal.aborted).toBe(false)
    c.leg.answered()
    await settle()
    expect(t.statuses).toEqual([200])
    expect(t.joined.at(-1)).toEqual([b.port, c.port])
    c.leg.digit('1')
    b.leg.digit('2')
    await settle()
    expect([b.far.requests, c.far.requests]).toEqual([['digits 1'], ['digits 2']])
    b.leg.ended({ code: 'normal' })
    await settle()
    expect(c.far.requests).toEqual(['digits 2', 'end normal'])
    expect([...t.left(), t.ended.length]).toEqual([0, 0, 0, 1])
  })

  it.each(['caller', 'callee'] as const)(
    'by the %s without success leaves the pair together',
    async (who) => {
      const c = await refer(who === 'caller' ? t.a : b)
      c.leg.ended({ code: 'busy', sip: 486 })
      await settle()
      expect(t.statuses).toEqual([486])
      expect(new Set(t.joined.at(-1))).toEqual(new Set([t.a.port, b.port]))
      expect(t.bridges.count).toBe(1)
      // A second transfer is possible.
      expect(b.leg.referred(t.referral)).toBe(true)
    },
  )

  it('without an answer ends the party that stays if the other one has hung up', async () => {
    const c = await refer(t.a)
    t.a.leg.ended({ code: 'normal' })
    t.clock.advance(60_000)
    await settle()
    expect([t.statuses, c.far.requests]).toEqual([[480], ['end no_answer']])
    expect(t.outcomes).toHaveLength(1)
    expect(b.leg.isEnded).toBe(false)
    t.call.end({ code: 'normal' })
    expect([...t.left(), b.far.requests]).toEqual([0, 0, 0, ['end normal']])
  })

  it('ends with 487 if the transferred party hangs up', async () => {
    const c = await refer(b)
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect([t.statuses, c.far.requests, b.leg.isEnded]).toEqual([[487], ['end canceled'], true])
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('is rejected during another transfer, and for a caller without a partner', async () => {
    await refer(b)
    expect([b.leg.referred(t.referral), t.a.leg.referred(t.referral)]).toEqual([false, false])
    const lonely = setUp()
    await lonely.a.leg.answer()
    expect(lonely.a.leg.referred(lonely.referral)).toBe(false)
  })
})

describe('the end of a transfer', () => {
  let t: ReturnType<typeof setUp>
  let b: FakeLeg
  let over: number
  beforeEach(async () => {
    t = setUp()
    b = await t.talking()
    over = 0
    t.a.leg.referred({ ...t.referral, over: () => over++ })
    await settle()
  })

  it('follows the end of the target’s leg', async () => {
    const c = t.outbound.dialled[1]!
    c.leg.answered()
    await settle()
    expect(over).toBe(0)
    c.leg.ended({ code: 'normal' })
    await settle()
    expect(over).toBe(1)
  })

  it('follows a transfer without a target, and the end of the call', async () => {
    t.outbound.dialled[1]!.leg.ended({ code: 'busy', sip: 486 })
    await settle()
    expect(over).toBe(1)
    b.leg.referred({ ...t.referral, over: () => over++ })
    await settle()
    t.call.end({ code: 'normal' })
    await settle()
    expect(over).toBe(2)
  })

  it('follows the end of the call before the target was dialed', async () => {
    const other = setUp()
    let ended = 0
    const answering = Promise.withResolvers<void>()
    // The caller has answered, and cannot hear yet.
    other.a.far.answer = () => {
      other.a.leg.answered()
      return answering.promise
    }
    const fork = new ConnectSession(other.deps, other.call, {
      steps: [[{ to: 'sip:b@y' }]],
      answerOnBridge: true,
    })
    void fork.run()
    await settle()
    const callee = other.outbound.dialled[0]!
    callee.leg.answered()
    await settle()
    expect(callee.leg.referred({ ...other.referral, over: () => ended++ })).toBe(true)
    other.a.leg.ended({ code: 'normal' })
    await settle()
    expect([other.statuses, ended, other.outbound.dialled.length]).toEqual([[487], 1, 1])
  })
})

describe('a replacement', () => {
  const other = async (t: ReturnType<typeof setUp>): Promise<FakeLeg> => {
    const made = fakeLeg(t.clock, t.call.id)
    await made.leg.answer()
    return made
  }

  it.each(['caller', 'callee'] as const)('takes the place of the %s', async (who) => {
    const t = setUp()
    const b = await t.talking()
    const by = await other(t)
    const [old, stays] = who === 'caller' ? [t.a, b] : [b, t.a]
    expect(old.leg.replaced(by.leg)).toBe(true)
    await settle()
    expect(old.far.requests.at(-1)).toBe('end answered_elsewhere')
    expect(new Set(t.joined.at(-1))).toEqual(new Set([stays.port, by.port]))
    by.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toHaveLength(1)
    t.call.end({ code: 'normal' })
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('is rejected without a conversation, and for an unanswered leg', async () => {
    const t = setUp()
    await t.a.leg.answer()
    expect(t.a.leg.replaced((await other(t)).leg)).toBe(false)
    const b = await t.talking()
    expect(b.leg.replaced(fakeLeg(t.clock, t.call.id).leg)).toBe(false)
  })
})

it('sends a transfer request to a far side, and ends the leg if it succeeds', async () => {
  const t = setUp()
  await t.a.leg.answer()
  expect(await t.a.leg.refer('sip:c@y')).toEqual({ kind: 'failed', status: 405 })
  const busy = { kind: 'busy', status: 202, notifyStatus: 486 }
  Object.assign(t.a.far, { refer: async () => busy })
  expect([await t.a.leg.refer('sip:c@y'), t.a.leg.isEnded]).toEqual([busy, false])
  const taken = { kind: 'completed', status: 202, notifyStatus: 200 }
  Object.assign(t.a.far, { refer: async () => taken })
  expect([await t.a.leg.refer('sip:c@y'), t.a.leg.isEnded]).toEqual([taken, true])
  expect(await t.a.leg.refer('sip:c@y')).toEqual({ kind: 'failed', status: 481 })
})
