import { beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../testing/calls-fixture.ts'
import { callOf, connectDeps } from '../testing/connect-fixture.ts'
import { type FakeLeg, fakeLeg } from '../testing/fake-legs.ts'
import { BridgeSession } from './bridge-session.ts'
import { ConnectSession } from './connect-session.ts'

const setUp = () => {
  const fixture = connectDeps()
  const { clock, outbound, deps } = fixture
  const a = fakeLeg(clock, 'group')
  const { call } = callOf(a.leg, clock)
  const talking = async (to: string): Promise<FakeLeg> => {
    void new ConnectSession(deps, call, { steps: [[{ to }]] }).run()
    await settle()
    const b = outbound.dialled.at(-1)!
    b.leg.answered()
    await settle()
    return b
  }
  return { ...fixture, a, call, talking }
}

describe('the partner of a leg', () => {
  let t: ReturnType<typeof setUp>
  beforeEach(() => {
    t = setUp()
  })

  it('is reported to both after the answer, not during early media', async () => {
    void new ConnectSession(t.deps, t.call, { steps: [[{ to: 'sip:b@y' }]] }).run()
    await settle()
    const b = t.outbound.dialled[0]!
    b.leg.early(true)
    await settle()
    expect(t.bridges.count).toBe(1)
    expect(t.a.far.partners).toEqual(['calls sip:b@y'])
    b.leg.answered()
    await settle()
    expect(t.a.far.partners).toEqual(['calls sip:b@y', 'with sip:b@y'])
    expect(b.far.partners).toEqual(['with sip:caller@carrier.example'])
  })

  it('is absent after its hang-up, and then the next callee', async () => {
    const b = await t.talking('sip:b@y')
    b.leg.ended({ code: 'normal' })
    await settle()
    await t.talking('sip:c@y')
    expect(t.a.far.partners).toEqual([
      'calls sip:b@y',
      'with sip:b@y',
      'alone',
      'calls sip:c@y',
      'with sip:c@y',
    ])
  })

  it('does not change with a hold', async () => {
    const b = await t.talking('sip:b@y')
    for (const held of [true, false]) {
      b.leg.hold(held)
      t.a.leg.hold(held)
    }
    expect(t.bridges.count).toBe(1)
    expect(b.far.partners).toEqual(['with sip:caller@carrier.example'])
  })

  it('changes with a transfer for the party that stays', async () => {
    const b = await t.talking('sip:b@y')
    t.a.leg.referred({ to: 'sip:c@y', progress: () => {} })
    await settle()
    const c = t.outbound.dialled[1]!
    c.leg.answered()
    await settle()
    expect(b.far.partners).toEqual([
      'with sip:caller@carrier.example',
      'alone',
      'calls sip:c@y',
      'with sip:c@y',
    ])
    expect(c.far.partners).toEqual(['with sip:b@y'])
  })

  it('is the leg that was joined last if the former pair ends late', () => {
    const [b, c] = ['sip:b@y', 'sip:c@y'].map((to) => {
      const made = fakeLeg(t.clock, 'group', { direction: 'outbound', to })
      made.leg.answered()
      return made
    }) as [FakeLeg, FakeLeg]
    const mix = { update: () => {} }
    const former = new BridgeSession(t.bridges, mix, t.call, { digit: () => {} })
    former.pair(b.leg)
    new BridgeSession(t.bridges, mix, callOf(c.leg, t.clock).call, { digit: () => {} }).pair(b.leg)
    former.part()
    expect(t.a.far.partners).toEqual(['with sip:b@y', 'alone'])
    expect(b.far.partners).toEqual(['with sip:caller@carrier.example', 'with sip:c@y'])
  })

  it('changes when either leg is replaced', async () => {
    const b = await t.talking('sip:b@y')
    const answered = (to: string) => {
      const made = fakeLeg(t.clock, 'group', { direction: 'outbound', to })
      made.leg.answered()
      return made
    }
    const c = answered('sip:c@y')
    const d = answered('sip:d@y')
    expect(b.leg.replaced(c.leg)).toBe(true)
    expect(t.a.far.partners.slice(1)).toEqual(['with sip:b@y', 'with sip:c@y'])
    expect(b.far.partners.at(-1)).toBe('alone')
    expect(t.a.leg.replaced(d.leg)).toBe(true)
    expect(c.far.partners).toEqual(['with sip:caller@carrier.example', 'with sip:d@y'])
    expect(d.far.partners).toEqual(['with sip:c@y'])
  })
})
