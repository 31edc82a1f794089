import { beforeEach, describe, expect, it } from 'vitest'
import type { Addition } from '../leg/addition.ts'
import type { Leg } from '../leg/leg.ts'
import { settle } from '../testing/calls-fixture.ts'
import { callOf, connectDeps } from '../testing/connect-fixture.ts'
import { type FakeLeg, fakeLeg } from '../testing/fake-legs.ts'
import { type ConnectOutcome, ConnectSession } from './connect-session.ts'

const setUp = () => {
  const fixture = connectDeps()
  const { clock, outbound, deps, bridges, mixers } = fixture
  const a = fakeLeg(clock, 'group')
  const { call, ended } = callOf(a.leg, clock)
  const outcomes: ConnectOutcome[] = []
  const statuses: number[] = []
  let over = 0
  const addition: Addition = {
    to: 'sip:c@y',
    progress: (status) => statuses.push(status),
    over: () => over++,
  }
  const talking = async (): Promise<FakeLeg> => {
    const options = { steps: [[{ to: 'sip:b@y' }]] }
    void new ConnectSession(deps, call, options).run().then((outcome) => outcomes.push(outcome))
    await settle()
    outbound.dialled[0]!.leg.answered()
    await settle()
    return outbound.dialled[0]!
  }
  const mixed = () => [...(mixers.at(-1)?.members.keys() ?? [])]
  const left = () => [bridges.count, clock.running, call.legs.size, mixers.every(({ isClosed }) => isClosed)]
  return { ...fixture, a, call, ended, outcomes, statuses, addition, talking, mixed, left, overs: () => over }
}

describe('a person who is added to a call', () => {
  let t: ReturnType<typeof setUp>
  let b: FakeLeg
  beforeEach(async () => {
    t = setUp()
    b = await t.talking()
  })
  /** Calls the person for one of the two. */
  const add = async (by: FakeLeg) => {
    expect(by.leg.adds(t.addition)).toBe(true)
    await settle()
    return t.outbound.dialled.at(-1)!
  }
  const added = async (by: FakeLeg) => {
    const c = await add(by)
    c.leg.answered()
    await settle()
    return c
  }

  it('is called while the two talk on, and is mixed with them after the answer', async () => {
    const c = await add(t.a)
    expect([t.bridges.count, c.request.from.uri]).toEqual([1, 'sip:caller@carrier.example'])
    c.leg.early(false)
    expect(t.statuses).toEqual([180])
    c.leg.answered()
    await settle()
    expect([t.statuses, t.bridges.count]).toEqual([[180, 200], 0])
    expect(t.mixed()).toEqual([t.a.port, b.port, c.port])
  })

  it('is called in the name of the callee who adds', async () => {
    const c = await add(b)
    expect(c.request).toMatchObject({ from: { uri: 'sip:b@y' }, inviter: b.leg, caller: t.a.leg })
  })

  it('knows the caller as the callee who adds, and a caller who adds by its own name', async () => {
    const c = await added(b)
    expect(c.request.callerName).toBe(b.leg.from)
    const d = await add(t.a)
    expect(d.request.callerName).toBeUndefined()
  })

  it('is called in the name of the party that has replaced the callee', async () => {
    const d = fakeLeg(t.clock, 'group')
    d.leg.answered()
    expect(b.leg.replaced(d.leg)).toBe(true)
    const c = await add(d)
    expect([c.request.from === d.leg.from, c.request.inviter]).toEqual([true, d.leg])
  })

  it('who does not answer leaves the two connected', async () => {
    const c = await add(t.a)
    c.leg.ended({ code: 'busy' })
    await settle()
    expect([t.statuses, t.bridges.count, t.overs()]).toEqual([[486], 1, 1])
    expect(t.mixers).toEqual([])
    await added(t.a)
    expect(t.statuses).toEqual([486, 200])
  })

  it('stays while another leg replaces one of the two, as after an attended transfer', async () => {
    const c = await added(t.a)
    const d = fakeLeg(t.clock, 'group')
    const e = fakeLeg(t.clock, 'group')
    for (const each of [d, e]) each.leg.answered()
    expect(b.leg.replaced(d.leg)).toBe(true)
    expect(new Set(t.mixed())).toEqual(new Set([t.a.port, d.port, c.port]))
    expect(t.a.leg.replaced(e.leg)).toBe(true)
    expect(new Set(t.mixed())).toEqual(new Set([e.port, d.port, c.port]))
    e.leg.ended({ code: 'normal' })
    d.leg.ended({ code: 'normal' })
    await settle()
    expect([c.leg.isEnded, ...t.left()]).toEqual([true, 0, 0, 0, true])
  })

  it('is known to the one who adds once it has joined', async () => {
    const joined: Leg[] = []
    expect(t.a.leg.adds({ ...t.addition, joined: (leg) => joined.push(leg) })).toBe(true)
    await settle()
    expect(joined).toEqual([])
    const { leg } = t.outbound.dialled.at(-1)!
    leg.answered()
    await settle()
    expect(joined).toEqual([leg])
  })

  it('who leaves leaves the two connected, without a mixer', async () => {
    const c = await added(t.a)
    c.leg.ended({ code: 'normal' })
    await settle()
    expect([t.bridges.count, t.overs(), t.mixers[0]?.isClosed]).toEqual([1, 1, true])
    expect(t.joined.at(-1)).toEqual([t.a.port, b.port])
  })

  it('stays with the caller after the callee has left', async () => {
    const c = await added(t.a)
    b.leg.ended({ code: 'normal' })
    await settle()
    expect(t.joined.at(-1)).toEqual([t.a.port, c.port])
    c.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { kind: 'connected', endedBy: 'callee' } }])
  })

  it('stays with the callee after the caller has left', async () => {
    const c = await added(t.a)
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect([t.ended, t.call.caller]).toEqual([[], b.leg])
    expect(t.joined.at(-1)).toEqual([b.port, c.port])
    b.leg.ended({ code: 'normal' })
    await settle()
    expect([c.leg.isEnded, ...t.left(), t.ended.length]).toEqual([true, 0, 0, 0, true, 1])
  })

  it.each(['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])(
    'leaves nothing behind if %s leave in this order',
    async (order) => {
      const legs: Readonly<Record<string, FakeLeg>> = { a: t.a, b, c: await added(t.a) }
      for (const name of order) {
        legs[name]!.leg.ended({ code: 'normal' })
        await settle()
      }
      expect([...t.left(), t.ended.length, t.overs()]).toEqual([0, 0, 0, true, 1, 1])
    },
  )

  it('is not mixed while it holds', async () => {
    const c = await added(t.a)
    c.leg.hold(true)
    expect(t.mixed()).toEqual([t.a.port, b.port])
    c.leg.hold(false)
    expect(t.mixed()).toEqual([t.a.port, b.port, c.port])
    t.a.leg.hold(true)
    expect(t.mixed()).toEqual([b.port, c.port])
  })

  it('may be followed by others, one at a time and six at most', async () => {
    await add(t.a)
    expect(b.leg.adds(t.addition)).toBe(false)
    expect(t.a.leg.referred({ to: 'sip:d@y', progress: () => {} })).toBe(false)
    t.outbound.dialled.at(-1)!.leg.answered()
    await settle()
    for (let at = 0; at < 5; at++) await added(b)
    expect(t.mixed()).toHaveLength(8)
    expect(t.a.leg.adds(t.addition)).toBe(false)
  })

  it('cannot be added before the answer', async () => {
    const other = setUp()
    expect(other.a.leg.adds(other.addition)).toBe(false)
  })

  it('is not called any more when the callee hangs up before the answer', async () => {
    const c = await add(t.a)
    b.leg.ended({ code: 'normal' })
    await settle()
    expect([c.leg.isEnded, t.statuses, t.overs(), t.outcomes.length]).toEqual([true, [487], 1, 1])
  })

  it('leaves nothing behind when the call ends during its ringing', async () => {
    const c = await add(t.a)
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect([c.leg.isEnded, t.statuses, t.overs()]).toEqual([true, [487], 1])
    expect(t.left()).toEqual([0, 0, 0, true])
  })

  it('is hung up when the connection reaches its limit', async () => {
    const c = await added(t.a)
    t.clock.advance(4 * 3_600_000)
    await settle()
    expect([b.leg.isEnded, c.leg.isEnded]).toEqual([true, true])
    expect(t.outcomes).toHaveLength(1)
  })
})
