import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl } from '../../../handlers/verbs.ts'
import { settle, setUp as setUpCalls } from '../testing/calls-fixture.ts'
import { fakeLeg } from '../testing/fake-legs.ts'
import { StrictCallRows } from '../testing/strict-call-rows.ts'

const setUp = () => {
  const rows = new StrictCallRows()
  return { ...setUpCalls({ rows }), rows }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

const connects = (call: CallControl) => call.connect({ steps: [[{ to: 'sip:b@x' }]] }).then(() => {})

describe('the log of calls', () => {
  it('has an inbound call and the branches that it dials', async () => {
    const a = t.arrive(connects)
    t.clock.advance(1_000)
    await settle()
    const [b] = t.outbound.dialled
    b!.leg.early(false)
    t.clock.advance(1_000)
    b!.leg.note({ sipCallId: 'c', response: { status: 200, headers: [] } })
    b!.leg.answered()
    await settle()
    t.clock.advance(3_000)
    a.leg.ended({ code: 'normal' })
    await settle()
    await settle()
    const call = t.rows.rows[0]!
    const called = t.rows.rows[1]!
    expect(t.rows.rows).toHaveLength(2)
    expect(call).toMatchObject({ direction: 'inbound', type: 'sip', from: 'sip:caller@carrier.example' })
    expect(call).toMatchObject({ status: 'completed', code: 'normal', document: 'test' })
    expect(call.endedAt! - call.answeredAt!).toBe(5_000)
    expect(called).toMatchObject({ direction: 'outbound-dial', parentId: call.id, to: 'sip:b@x' })
    expect(called).toMatchObject({ status: 'completed', sipStatus: 200 })
    expect([called.ringingAt! - called.createdAt, called.answeredAt! - called.ringingAt!]).toEqual([0, 1_000])
    expect(t.records[0]).toMatchObject({ call: call.id })
  })

  it('has the status URL of a branch, in case the gateway dies', async () => {
    const statusTarget = { url: 'https://x.example/', method: 'GET', states: ['completed'] } as const
    const a = t.arrive((call) => call.connect({ steps: [[{ to: 'sip:b@x', statusTarget }]] }).then(() => {}))
    await settle()
    expect(t.rows.rows.map(({ statusTarget: toldTo }) => toldTo)).toEqual([
      undefined,
      { ...statusTarget, dialect: 'form' },
    ])
    a.leg.ended({ code: 'canceled' })
    await settle()
  })

  it.each([
    ['busy', 'busy'],
    ['declined', 'busy'],
    ['no_answer', 'no-answer'],
    ['canceled', 'canceled'],
    ['unreachable', 'failed'],
  ] as const)('has a call of the gateway: %s is %s', async (code, status) => {
    const made = t.calls.originate({
      projectId: 'p',
      steps: [[{ to: 'sip:trunk:pw@x', from: '+1' }]],
      from: 'sip:me@y',
      run: async () => {},
    })
    made.catch(() => {})
    await settle()
    t.outbound.dialled[0]!.leg.ended({ code, sip: 499 })
    await expect(made).rejects.toMatchObject({ code })
    expect(t.rows.rows).toMatchObject([{ direction: 'outbound-api', to: 'sip:trunk@x', status, code }])
    expect(t.rows.rows[0]).not.toHaveProperty('parentId')
    expect(t.outbound.dialled[0]!.request).toMatchObject({
      from: { uri: 'sip:me@y' },
      destination: { from: '+1' },
    })
  })

  it('ends a call of the gateway once, with the call', async () => {
    const made = t.calls.originate({
      projectId: 'p',
      steps: [[{ to: 'sip:b@x', from: '+1' }]],
      run: async (call) => call.sleep(9),
    })
    await settle()
    t.outbound.dialled[0]!.leg.answered()
    const id = await made
    t.clock.advance(9)
    await settle()
    expect(t.rows.rows).toMatchObject([{ id, status: 'completed', code: 'normal' }])
  })

  it('reports to the status URL of the handler', () => {
    const status = {
      url: 'https://x.example/',
      method: 'POST',
      states: ['completed'],
      dialect: 'form',
    } as const
    const handler = { kind: 'xml', url: 'https://u:p@x.example/doc?key=pw', status } as const
    t.arrive((call) => call.sleep(1_000), { plan: { kind: 'handler', handler } })
    expect([...t.rows.watched]).toEqual([[t.rows.rows[0]!.id, status]])
    expect(t.rows.rows[0]).toMatchObject({ document: 'https://x.example/doc', status: 'ringing' })
  })

  it('has a rejected call', () => {
    for (let calls = 0; calls < 3; calls++) t.arrive((call) => call.sleep(1_000))
    expect(t.rows.rows[2]).toMatchObject({ direction: 'inbound', status: 'failed', code: 'over_call_limit' })
    expect(t.rows.open).toBe(2)
  })

  it('has a call that its caller has canceled', async () => {
    const a = t.arrive((call) => call.sleep(1_000))
    a.leg.ended({ code: 'canceled' })
    await settle()
    expect(t.rows.rows).toMatchObject([{ status: 'canceled' }])
  })

  it('has an answered call whose caller hangs up before its ACK', async () => {
    const a = t.arrive((call) => call.sleep(1_000))
    a.leg.answerSent()
    t.clock.advance(200)
    a.leg.ended({ code: 'normal' })
    await settle()
    const [call] = t.rows.rows
    expect(call).toMatchObject({ status: 'completed', code: 'normal' })
    expect(call!.endedAt! - call!.answeredAt!).toBe(200)
    await settle()
    expect(t.records).toMatchObject([{ answeredMs: 200 }])
  })

  it('continues a branch that another leg replaces', async () => {
    t.arrive(connects)
    await settle()
    const [b] = t.outbound.dialled
    b!.leg.answered()
    await settle()
    const by = fakeLeg(t.clock, t.rows.rows[0]!.id).leg
    by.answered()
    expect(b!.leg.replaced(by)).toBe(true)
    expect(t.rows.rows[1]).toMatchObject({ status: 'in-progress' })
    by.ended({ code: 'normal' })
    await settle()
    expect(t.rows.rows[1]).toMatchObject({ status: 'completed' })
    expect(t.rows.open).toBe(0)
  })

  it('has the target of a transfer', async () => {
    t.arrive(connects)
    await settle()
    t.outbound.dialled[0]!.leg.answered()
    await settle()
    t.outbound.dialled[0]!.leg.referred({ to: 'sip:c@x', progress: () => {} })
    await settle()
    t.outbound.dialled[1]!.leg.answered()
    await settle()
    expect(t.rows.rows.map(({ to, status }) => [to, status])).toEqual([
      ['sip:callee@demo.example', 'in-progress'],
      ['sip:b@x', 'completed'],
      ['sip:c@x', 'in-progress'],
    ])
    expect(t.rows.rows[2]).toMatchObject({ parentId: t.rows.rows[0]!.id })
    await Promise.all([t.calls.drain(0), settle().then(() => t.clock.advance(0))])
    expect(t.rows.open).toBe(0)
  })
})
