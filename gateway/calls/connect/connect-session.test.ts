import { beforeEach, describe, expect, it } from 'vitest'
import { newLegId } from '../call/ids.ts'
import { Leg } from '../leg/leg.ts'
import { settle } from '../testing/calls-fixture.ts'
import { callOf, connectDeps } from '../testing/connect-fixture.ts'
import { FakeFarSide, type FakeOutbound, FakePort } from '../testing/fake-legs.ts'
import { type ConnectOutcome, ConnectSession } from './connect-session.ts'

/** A caller whose audio opens when the test allows it, and who may have none before the answer. */
class Caller extends FakeFarSide {
  readonly port: FakePort
  heard = Promise.resolve()
  late = false

  constructor(leg: Leg, port: FakePort) {
    super(leg)
    this.port = port
  }

  override async progress(): Promise<void> {
    await super.progress()
    await this.heard
  }

  override async answer(): Promise<void> {
    if (this.late) this.leg.setPort(this.port)
    await super.answer()
  }
}

const setUp = () => {
  const fixture = connectDeps()
  const { clock, outbound, deps } = fixture
  const party = { uri: 'sip:caller@carrier.example', user: 'caller', name: '' }
  const leg = new Leg({
    id: newLegId(),
    kind: 'browser',
    direction: 'inbound',
    from: party,
    to: party,
    now: () => clock.now(),
  })
  const port = new FakePort('group')
  const far = new Caller(leg, port)
  leg.attach(far)
  const { call } = callOf(leg, clock)
  const outcomes: (ConnectOutcome | Error)[] = []
  /** Rings the callees `to` at the same time, without answering the caller first. */
  const fork = async (...to: string[]): Promise<FakeOutbound['dialled']> => {
    const options = { steps: [to.map((uri) => ({ to: uri }))], answerOnBridge: true }
    new ConnectSession(deps, call, options).run().then(
      (outcome) => outcomes.push(outcome),
      (error) => outcomes.push(error),
    )
    await settle()
    return outbound.dialled
  }
  return { ...fixture, leg, far, port, fork, outcomes }
}

describe('a fork', () => {
  let t: ReturnType<typeof setUp>
  beforeEach(() => {
    t = setUp()
  })

  it('joins a caller without an offer at its answer, not at early media', async () => {
    t.far.late = true
    const [callee] = await t.fork('sip:a@y')
    callee?.leg.early(true)
    await settle()
    expect(t.bridges.count).toBe(0)
    callee?.leg.answered()
    await settle()
    expect(t.far.requests).toEqual(['progress', 'answer'])
    expect(t.bridges.count).toBe(1)
    callee?.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { kind: 'connected', endedBy: 'callee' } }])
    expect([t.bridges.count, t.clock.running]).toEqual([0, 1])
  })

  it('rings all contacts of an endpoint, and the first answer ends the others', async () => {
    t.registered.push({ kind: 'sip', uri: 'sip:p@10.0.0.1' }, { kind: 'sip', uri: 'sip:p@10.0.0.2' })
    const [first, second] = await t.fork('/public/phone')
    expect([first?.target, second?.target]).toMatchObject([
      { uri: 'sip:p@10.0.0.1', endpointId: 'e1' },
      { uri: 'sip:p@10.0.0.2', endpointId: 'e1' },
    ])
    second?.leg.answered()
    await settle()
    expect(first?.far.requests).toEqual(['end answered_elsewhere'])
    t.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { kind: 'connected', endedBy: 'caller' } }])
  })

  it('reports an endpoint without a registration', async () => {
    await t.fork('/public/phone')
    expect(t.outcomes).toMatchObject([
      { result: { kind: 'failed', reason: 'no-answer', code: 'not_online' } },
    ])
  })

  it('reports the best refusal, not the last one', async () => {
    const [busy, gone] = await t.fork('sip:a@y', 'sip:b@y')
    busy?.leg.ended({ code: 'busy', sip: 486 })
    gone?.leg.ended({ code: 'unreachable' })
    await settle()
    expect(t.outcomes).toMatchObject([
      { result: { reason: 'busy', sipStatus: 486 }, cause: { code: 'busy' } },
    ])
  })

  it('starts no ringing tone if all refuse before the caller has audio', async () => {
    t.leg.setPort(t.port)
    const heard = Promise.withResolvers<void>()
    t.far.heard = heard.promise
    const [callee] = await t.fork('sip:a@y')
    callee?.leg.early(false)
    await settle()
    callee?.leg.ended({ code: 'busy' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { kind: 'failed', reason: 'busy' } }])
    heard.resolve()
    await settle()
    expect(t.port.playing).toBeUndefined()
  })

  it('keeps the first early media, and rings on when it ends', async () => {
    t.leg.setPort(t.port)
    const [a, b] = await t.fork('sip:a@y', 'sip:b@y')
    a?.leg.early(true)
    b?.leg.early(true)
    await settle()
    expect(t.joined).toEqual([[t.port, a?.port]])
    a?.leg.ended({ code: 'busy' })
    await settle()
    expect(t.parted).toHaveLength(1)
    expect(t.port.playing).toBeDefined()
    b?.leg.answered()
    await settle()
    expect(t.joined).toEqual([
      [t.port, a?.port],
      [t.port, b?.port],
    ])
    expect(t.port.playing).toBeUndefined()
  })

  it('does not join a caller who has held since before the answer', async () => {
    t.leg.setPort(t.port)
    await t.leg.answer()
    t.leg.hold(true)
    const [callee] = await t.fork('sip:a@y')
    callee?.leg.answered()
    await settle()
    expect(t.bridges.count).toBe(0)
    t.leg.hold(false)
    expect(t.bridges.count).toBe(1)
  })

  it('survives a far side that fails at a ringing tone or a digit', async () => {
    t.leg.setPort(t.port)
    t.far.heard = Promise.reject(new Error('the page is gone'))
    // Prevents an unhandled rejection before a callee rings.
    t.far.heard.catch(() => {})
    const [callee] = await t.fork('sip:a@y')
    callee?.leg.early(false)
    await settle()
    callee?.leg.answered()
    await settle()
    callee!.far.sendDigits = () => Promise.reject(new Error('no dialog'))
    t.leg.digit('1')
    await settle()
    expect(t.bridges.count).toBe(1)
  })

  it('leaves no leg ringing and no pair joined when the caller hangs up', async () => {
    t.leg.setPort(t.port)
    const [a, b] = await t.fork('sip:a@y', 'sip:b@y')
    a?.leg.early(true)
    await settle()
    t.leg.ended({ code: 'canceled' })
    await settle()
    expect([a?.far.requests, b?.far.requests]).toEqual([['end canceled'], ['end canceled']])
    expect(t.outcomes).toMatchObject([{ name: 'CallEnded' }])
    expect([t.bridges.count, t.clock.running]).toEqual([0, 0])
  })
})
