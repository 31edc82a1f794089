import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import type { LogLine } from '../support/gateway.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { RefusingPeer } from '../support/refusing-peer.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const goesOn = [408, 500, 502, 503, 504]
const staysThere = [404, 486, 600, 603]
const two = { targets: 2 }

/** Outcomes of the attempts of a call, in order. */
const triesOf = (record: LogLine): (string | number)[] => {
  const legs = record.legs as readonly { tries?: readonly { outcome: string; sipStatus?: number }[] }[]
  return legs.flatMap(({ tries = [] }) => tries.map(({ outcome, sipStatus }) => sipStatus ?? outcome))
}

describe.each(agents)('carriers that fail, by $name', (agent) => {
  const { reportsTrying: tryings } = agent.capabilities
  let outgoing: OutgoingGateway

  beforeAll(async () => {
    const impatient = { ...two, failover: { noProgress: '300ms' } }
    outgoing = await OutgoingGateway.start(agent, {
      ...Object.fromEntries(goesOn.map((status) => [`on-${status}`, two])),
      ...Object.fromEntries(staysThere.map((status) => [`stays-${status}`, two])),
      rings: two,
      closed: two,
      silent: impatient,
      late: impatient,
      aside: { ...two, default: true },
      inside: two,
      outside: {},
      chosen: { ...two, failover: { statuses: [486] } },
      probed: { probe: { interval: '200ms', down: 2, up: 1 } },
      full: { maxCalls: 1 },
      grows: {},
      moves: two,
    })
  })

  afterAll(() => outgoing?.stop())

  it.each(goesOn)('a target’s %i makes the gateway call the next target', async (status) => {
    const first = await outgoing.target(`on-${status}`, 'callee-declines', { values: { status } })
    const second = await outgoing.target(`on-${status}`, 'callee-takes', { index: 1 })
    const caller = await outgoing.call(`on-${status}`, 'call')
    expect(triesOf(await outgoing.ended(caller, first, second))).toEqual([status, 200])
  })

  it.each(staysThere)('a target’s %i ends the attempts: no other target is called', async (status) => {
    const first = await outgoing.target(`stays-${status}`, 'callee-declines', { values: { status } })
    const caller = await outgoing.call(`stays-${status}`, 'call-refused', { values: { status } })
    expect(triesOf(await outgoing.ended(caller, first))).toEqual([status])
  })

  it('the carrier’s own failover statuses replace the default', async () => {
    const first = await outgoing.target('chosen', 'callee-declines', { values: { status: 486 } })
    const second = await outgoing.target('chosen', 'callee-takes', { index: 1 })
    const caller = await outgoing.call('chosen', 'call')
    expect(triesOf(await outgoing.ended(caller, first, second))).toEqual([486, 200])
  })

  it('a 503 of a target that has rung ends the attempts: no other target is called', async () => {
    const first = await outgoing.target('rings', 'callee-rings-declines', { values: { status: 503 } })
    const caller = await outgoing.call('rings', 'call-refused', { values: { status: 500 } })
    expect(triesOf(await outgoing.ended(caller, first))).toEqual([503])
  })

  it.runIf(tryings)('a target without progress is cancelled, and the next target is called', async () => {
    const first = await outgoing.target('silent', 'callee-silent', { holdMs: 1_200 })
    const second = await outgoing.target('silent', 'callee-takes', { index: 1 })
    const caller = await outgoing.call('silent', 'call', { holdMs: 1_400 })
    expect(triesOf(await outgoing.ended(caller, second, first))).toEqual(['no-progress', 200])
    expect(first.sipp.received('INVITE').length).toBeGreaterThan(0)
  })

  it.runIf(tryings)('a late answer of a cancelled target is hung up', async () => {
    const first = await outgoing.target('late', 'callee-silent-answers', { holdMs: 1_200 })
    const second = await outgoing.target('late', 'callee-takes', { index: 1 })
    const caller = await outgoing.call('late', 'call', { holdMs: 1_400 })
    await first.sipp.event('bye')
    expect(triesOf(await outgoing.ended(caller, second, first))).toEqual(['no-progress', 200])
    expect(await outgoing.gateway.metric('calls')).toBe(0)
  })

  it('a target that sent Retry-After is tried last for that time', async () => {
    const values = { status: 503, why: ['Retry-After: 60'] }
    const first = await outgoing.target('aside', 'callee-declines', { values })
    const second = await outgoing.target('aside', 'callee-takes', { index: 1 })
    const one = await outgoing.call('aside', 'call')
    expect(triesOf(await outgoing.ended(one, first, second))).toEqual([503, 200])
    const again = await outgoing.target('aside', 'callee-takes', { index: 1 })
    outgoing.connect = { to: '+15557778888' }
    const next = await outgoing.call('aside', 'call')
    expect(triesOf(await outgoing.ended(next, again))).toEqual([200])
  })

  describe('a redirection (302)', () => {
    const to = (where: string) => ({ values: { status: 302, why: [`Contact: <sip:+15550001111@${where}>`] } })

    it('to another target of the same carrier is followed', async () => {
      const where = `127.0.0.1:${outgoing.portOf('inside', 1)}`
      const first = await outgoing.target('inside', 'callee-declines', to(where))
      const second = await outgoing.target('inside', 'callee-takes', { index: 1 })
      const caller = await outgoing.call('inside', 'call')
      expect(triesOf(await outgoing.ended(caller, first, second))).toEqual([302, 200])
      expect(second.sipp.received('INVITE')[0]).toContain(`INVITE sip:+15550001111@${where}`)
    })

    it('to any other address is not followed', async () => {
      const first = await outgoing.target('outside', 'callee-declines', to('127.0.0.9:5060'))
      const caller = await outgoing.call('outside', 'call-refused', { values: { status: 502 } })
      expect(triesOf(await outgoing.ended(caller, first))).toEqual([302])
    })
  })

  describe('a carrier that never stops rejecting', () => {
    // A drachtio-server leaves a 422 to the application, and the interval to its own timer.
    it.runIf(agent.capabilities.sessionTimers === 'agent')(
      'with ever longer session intervals (422) gets at most four INVITEs',
      async () => {
        const peer = await RefusingPeer.listen(outgoing.portOf('grows'), (n) => ({
          status: 422,
          headers: [`Min-SE: ${2_000 + n}`],
        }))
        // The 422 is about the gateway's session timer: the caller has none.
        const caller = await outgoing.call('grows', 'call-refused', { values: { status: 500 } })
        expect(triesOf(await outgoing.ended(caller))).toEqual([422, 422, 422, 422])
        expect(peer.invites.map((invite) => headerOf(invite, 'Min-SE'))).toEqual([
          '90',
          '2001',
          '2002',
          '2003',
        ])
      },
    )

    it('with circular redirections (302) gets at most four INVITEs', async () => {
      const places = [0, 1].map((index) => `<sip:1@127.0.0.1:${outgoing.portOf('moves', index)}>`)
      const peers = await Promise.all(
        places.map((_place, i) =>
          RefusingPeer.listen(outgoing.portOf('moves', i), () => ({
            status: 302,
            headers: [`Contact: ${places[1 - i]}`],
          })),
        ),
      )
      const caller = await outgoing.call('moves', 'call-refused', { values: { status: 502 } })
      expect(triesOf(await outgoing.ended(caller))).toEqual([302, 302, 302, 302])
      expect(peers.map(({ invites }) => invites.length)).toEqual([2, 2])
    })
  })

  it('a call over the carrier’s limit is rejected, and the log names the carrier', async () => {
    const callee = await outgoing.target('full', 'callee-takes')
    const caller = await outgoing.call('full', 'call', { holdMs: 'manual' })
    await caller.sipp.event('answered')
    expect(await outgoing.gateway.metric('carrier_calls', { carrier: 'full' })).toBe(1)
    const second = await outgoing.call('full', 'call-refused', { values: { status: 500 } })
    await second.done()
    const { detail } = await outgoing.gateway.refusal('over_call_limit')
    expect(detail).toContain('carrier full')
    await caller.goesOn()
    await outgoing.ended(caller, callee)
    expect(await outgoing.gateway.metric('carrier_calls', { carrier: 'full' })).toBe(0)
  })

  it('OPTIONS probes mark a target that answers 503 as down, and as up when it recovers', async () => {
    const target = `sip:127.0.0.1:${outgoing.portOf('probed')}`
    const up = () => outgoing.gateway.metric('carrier_up', { carrier: 'probed', target })
    const poor = await outgoing.target('probed', 'callee-pings', { count: 1000, values: { status: 503 } })
    // A target without a listener is down from the first ICMP error, long before this test.
    await until(
      'a ping has come',
      () => poor.sipp.received('OPTIONS').length,
      (pings) => pings > 0,
    )
    await until('the target is down', up, (value) => value === 0)
    expect(headerOf(poor.sipp.received('OPTIONS')[0] ?? '', 'Max-Forwards')).toBe('70')
    await poor.sipp.stop()
    const well = await outgoing.target('probed', 'callee-pings', { count: 1000 })
    await until('the target is up', up, (value) => value === 1)
    await well.sipp.stop()
  })
})
