import { describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { carrierSdp } from '../testing/bench.ts'
import { OutboundRig } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'

const setUp = (changes: Partial<CarrierConfig> = {}, tryings = true) =>
  new OutboundRig([testCarrier({ targets: ['sip:a.example', 'sip:b.example'], ...changes })], tryings)
const number = 'sip:+1@a.example'
const outcomes = (leg: { attempts: readonly { outcome: string; sipStatus?: number; target: string }[] }) =>
  leg.attempts.map(({ outcome, sipStatus, target }) => [target, outcome, sipStatus])

describe('failover', () => {
  it('tries the next target after a listed status, and records every attempt', async () => {
    const rig = setUp()
    const { leg, heard } = await rig.dial(number)
    rig.clock.advance(100)
    rig.next().refuse(503)
    const second = rig.next()
    expect(second.uri).toBe('sip:+1@b.example')
    rig.clock.advance(50)
    second.answer(carrierSdp({ address: '192.0.2.9' }))
    expect(heard.events).toEqual(['answered'])
    expect(outcomes(leg)).toEqual([
      ['sip:+1@a.example', 'refused', 503],
      ['sip:+1@b.example', 'answered', 200],
    ])
    const [first, last] = leg.attempts
    expect([first!.endedAt - first!.startedAt, last!.endedAt - last!.startedAt]).toEqual([100, 50])
    expect(leg.facts).toMatchObject({ carrier: 'carrier', sipCallId: 'new-id' })
  })

  it.each([404, 480, 486, 600, 603])('does not try another target after %i', async (status) => {
    const rig = setUp()
    const { leg } = await rig.dial(number)
    rig.next().refuse(status)
    expect([leg.isEnded, rig.waiting]).toEqual([true, 0])
    expect(rig.left).toEqual([0, 0, 0, 0])
  })

  it('tries the next target if one is unreachable or the agent does not accept the request', async () => {
    const rig = setUp({ targets: ['sip:a.example', 'sip:b.example', 'sip:c.example'] })
    const { leg } = await rig.dial(number)
    rig.next().unreachable()
    rig.next().uac.settle({ message: 'requested protocol/transport not available' })
    rig.next().unreachable(408)
    expect(leg.state).toMatchObject({ cause: { code: 'unreachable' } })
    expect(leg.attempts.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ['unreachable', '503 Service Unavailable'],
      ['unreachable', 'requested protocol/transport not available'],
      ['unreachable', '408 Service Unavailable'],
    ])
    expect(rig.left).toEqual([0, 0, 0, 0])
  })

  it('records the reason why a target is unreachable, if the agent knows it', async () => {
    const rig = setUp()
    const { leg } = await rig.dial(number)
    rig.next().unreachable(503, 'tls 192.0.2.1:5061 (a.example): self-signed certificate')
    rig.next().unreachable(503, 'tls 192.0.2.2:5061 (b.example): the certificate names no host')
    expect(rig.logged.flatMap(({ problem }) => problem ?? [])).toEqual([
      'tls 192.0.2.1:5061 (a.example): self-signed certificate',
      'tls 192.0.2.2:5061 (b.example): the certificate names no host',
    ])
    const detail = 'tls 192.0.2.2:5061 (b.example): the certificate names no host'
    expect(leg.state).toMatchObject({ cause: { code: 'unreachable', detail } })
    expect(leg.attempts.map((each) => each.detail)).toEqual([
      'tls 192.0.2.1:5061 (a.example): self-signed certificate',
      detail,
    ])
  })

  it('does not use the far side’s text as the reason', async () => {
    const rig = setUp({ targets: ['sip:a.example'] })
    const { leg } = await rig.dial(number)
    rig.next().refuse(503, { Warning: '399 a.example "self-signed certificate"' })
    expect(leg.state).toMatchObject({ cause: { code: 'far_refused', detail: '503 Reason' } })
    expect(rig.logged.flatMap(({ problem }) => problem ?? [])).toEqual([])
  })

  it('stops after a target has rung', async () => {
    const rig = setUp()
    const { leg } = await rig.dial(number)
    const invite = rig.next()
    invite.provisional(180)
    invite.refuse(503)
    expect(leg.state).toMatchObject({ cause: { code: 'far_refused', sip: 503 } })
    expect(rig.waiting).toBe(0)
  })

  it('follows the configured statuses', async () => {
    const rig = setUp({ failover: { statuses: [404], noProgressMs: 8_000 } })
    const { leg } = await rig.dial(number)
    rig.next().refuse(404)
    rig.next().refuse(503)
    expect(leg.state).toMatchObject({ cause: { sip: 503 } })
  })

  it('ends with the last rejection if no target is left', async () => {
    const rig = setUp()
    const { leg, heard } = await rig.dial(number)
    rig.next().refuse(503)
    rig.next().refuse(500)
    expect(leg.state).toMatchObject({ cause: { code: 'far_refused', sip: 500 }, by: 'far' })
    expect(heard.events).toEqual(['ended far_refused by far'])
  })
})

describe('a silent target', () => {
  it('is given up after noProgress, cancelled, and forgotten at its end', async () => {
    const rig = setUp()
    const { leg, heard } = await rig.dial(number)
    const first = rig.next()
    rig.clock.advance(7_999)
    expect(rig.waiting).toBe(0)
    rig.clock.advance(1)
    expect(first.request.canceled).toBe(1)
    const second = rig.next()
    second.provisional(100)
    first.provisional(180)
    expect(heard.events).toEqual([])
    second.refuse(486)
    expect(outcomes(leg).map(([, outcome]) => outcome)).toEqual(['no-progress', 'refused'])
    expect(rig.legs.size).toBe(1)
    first.refuse(487)
    expect(rig.left).toEqual([0, 0, 0, 0])
  })

  it('that answers late is hung up at once', async () => {
    const rig = setUp()
    const { leg } = await rig.dial(number)
    const first = rig.next()
    rig.clock.advance(8_000)
    rig.next().answer(carrierSdp({ address: '192.0.2.9' }))
    const late = first.answer(carrierSdp({ address: '192.0.2.9' }))
    expect(late.byes).toHaveLength(1)
    late.byes[0]!()
    expect(leg.isAnswered).toBe(true)
  })

  it('counts as slow after a 100', async () => {
    const rig = setUp()
    const { heard } = await rig.dial(number)
    const invite = rig.next()
    invite.provisional(100)
    rig.clock.advance(30_000)
    expect([rig.waiting, heard.events]).toEqual([0, []])
    invite.provisional(180)
    expect(heard.events).toEqual(['ringing'])
  })

  it('counts as slow if the agent reports no 100', async () => {
    const rig = setUp({}, false)
    await rig.dial(number)
    const invite = rig.next()
    rig.clock.advance(30_000)
    expect([rig.waiting, invite.request.canceled]).toEqual([0, 0])
  })

  it('ends the leg if it was the last one', async () => {
    const rig = setUp({ targets: ['sip:a.example'] })
    const { leg } = await rig.dial(number)
    const invite = rig.next()
    rig.clock.advance(8_000)
    expect(leg.state).toMatchObject({ cause: { code: 'unreachable' } })
    // The guard timer ends the wait for an INVITE that never settles.
    rig.clock.advance(40_000)
    expect(rig.left).toEqual([0, 0, 0, 0])
    expect(invite.answer().byes).toHaveLength(1)
  })
})

describe('a redirection', () => {
  it('is followed to hosts of the carrier, at most three times', async () => {
    const rig = setUp()
    const { leg } = await rig.dial(number)
    for (const each of [1, 2, 3]) rig.next().refuse(302, { Contact: `<sip:+${each}@b.example:5070>` })
    const last = rig.next()
    expect(last.uri).toBe('sip:+3@b.example:5070')
    last.refuse(302, { Contact: '<sip:+4@b.example>' })
    expect(leg.state).toMatchObject({ cause: { code: 'far_refused' } })
    expect(rig.left).toEqual([0, 0, 0, 0])
  })

  it('to another host counts as a rejection', async () => {
    const rig = setUp()
    const { leg } = await rig.dial(number)
    rig.next().refuse(302, { Contact: '<sip:+1900@premium.example>' })
    expect([leg.isEnded, rig.waiting]).toEqual([true, 0])
  })
})

describe('early media of a fork', () => {
  const to = (tag: string) => ({ To: `<sip:x@y>;tag=${tag}` })
  const one = carrierSdp({ address: '192.0.2.1' })
  const two = carrierSdp({ address: '192.0.2.2' })

  it('is that of the latest branch, and a repeated response does not switch back', async () => {
    const rig = setUp()
    const { heard } = await rig.dial(number)
    const invite = rig.next()
    const address = () => rig.edge.ports[0]?.far?.address
    invite.provisional(183, one, to('1'))
    expect(address()).toBe('192.0.2.1')
    invite.provisional(183, two, to('2'))
    expect(address()).toBe('192.0.2.2')
    invite.provisional(183, one, to('1'))
    invite.provisional(180, undefined, to('1'))
    expect(address()).toBe('192.0.2.2')
    invite.answer(one)
    expect(address()).toBe('192.0.2.1')
    expect(heard.events.at(-1)).toBe('answered')
  })
})
