/** @schedule first: waits for timers of half a minute and more. */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { agents, type SipAgent } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { answersTo, bodyOf, headerOf } from '../support/sip-text.ts'

const able = 'Supported: timer'
const update = 'Allow: INVITE, ACK, BYE, CANCEL, UPDATE'

/**
 * Places calls with every kind of end on a gateway without other calls. Half a minute later the gateway holds
 * no state of them, SIP transactions included.
 */
const leavesNothing = async (agent: SipAgent): Promise<void> => {
  const taken = await Carrier.listens({ scenario: 'callee-takes' })
  const cancelled = await Carrier.listens({ scenario: 'callee-cancelled' })
  const to = ({ uri }: Carrier) => scripted({ connect: { to: uri, answer_on_bridge: true } })
  const gateway = await Gateway.start({
    agent,
    domains: [
      application('greet.test', scripted({ play: { url: 'silence:0.2' } }, 'hangup')),
      application('talk.test', scripted('answer', { sleep: -1 })),
      application('busy.test', scripted({ hangup: { reason: 'busy' } })),
      application('through.test', to(taken)),
      application('rings.test', to(cancelled)),
    ],
  })
  onTestFinished(() => gateway.stop())
  const calls = (domain: string, scenario: string, more: object = {}): Promise<Carrier> =>
    Carrier.calls(gateway, { domain, scenario, ...more })
  const callers = await Promise.all([
    calls('greet.test', 'caller-released'),
    calls('greet.test', 'caller-released', { transport: 'tcp' }),
    calls('talk.test', 'call'),
    calls('talk.test', 'call', { transport: 'tcp' }),
    calls('busy.test', 'call-refused', { values: { status: 486 } }),
    calls('nowhere.test', 'call-refused', { values: { status: 404 } }),
    calls('through.test', 'call'),
    calls('rings.test', 'caller-cancels'),
  ])
  for (const carrier of [...callers, taken, cancelled]) await carrier.done()
  await gateway.settled({ transactions: true })
}

// The RFCs fix the duration of these timers, and no setting shortens them, so they all run at once.
describe.each(agents)('timers of half a minute and more, by $name', (agent) => {
  let outgoing: OutgoingGateway

  beforeAll(async () => {
    outgoing = await OutgoingGateway.start(agent, { plain: {} })
    outgoing.before = ['answer', 'hangup']
    outgoing.connect = { to: 'sip:nobody@127.0.0.1' }
  })

  afterAll(() => outgoing?.stop())

  const calls = (scenario: string, values: Record<string, readonly string[]> = {}): Promise<Carrier> =>
    outgoing.call('plain', scenario, { domain: 'talk.test', timeoutMs: 80_000, values })

  /** Checks the hang-up after 64 times T1 without an ACK (RFC 3261 section 13.3.1.4). */
  const hungUpWithoutAck = async (): Promise<void> => {
    const lost = await calls('call-no-ack')
    await lost.sipp.event('answered')
    await (await calls('call')).done()
    await lost.sipp.event('bye', 45_000)
    await lost.done()
    expect(lost.sipp.received('SIP/2.0 200').length).toBeGreaterThan(8)
  }

  /** Checks the record of a call whose document ends while the gateway still waits for the ACK. */
  const endedWithoutAck = async (): Promise<void> => {
    const lost = await Carrier.calls(outgoing.gateway, {
      domain: 'through.test',
      scenario: 'call-no-ack',
      timeoutMs: 80_000,
    })
    await lost.sipp.event('bye', 45_000)
    await lost.done()
    const end = { code: 'unreachable', by: 'us', detail: 'no ACK', answeredAt: expect.any(Number) }
    expect(await outgoing.gateway.record(lost.callId)).toMatchObject(end)
  }

  const asks = [able, 'Session-Expires: 90;refresher=uas']
  const terms = ['Session-Expires: 90;refresher=uac']

  /** Places a call that the gateway must refresh; `done` is SIPp's event after the refresh. */
  const refreshed = async (scenario: string, more: readonly string[], done: string): Promise<Carrier> => {
    const caller = await calls(scenario, { more, terms })
    await caller.talks('answered', 0)
    await caller.sipp.event(done, 50_000)
    await caller.done()
    return caller
  }

  const refreshedByUpdate = async (): Promise<void> => {
    const caller = await refreshed('call-updated', [...asks, update], 'refreshed')
    const [request = ''] = caller.sipp.received('UPDATE')
    expect(headerOf(request, 'Session-Expires')).toBe('90;refresher=uac')
    expect(headerOf(request, 'Content-Length')).toBe('0')
  }

  const refreshedByInvite = async (): Promise<void> => {
    const caller = await refreshed('call-reinvited', asks, 'agreed')
    const [request = ''] = caller.sipp.received('INVITE')
    expect(headerOf(request, 'Session-Expires')).toBe('90;refresher=uac')
    // The refresh repeats the last description unchanged.
    const [answer = ''] = answersTo(caller.sipp.received('SIP/2.0 200'), 1, 'INVITE')
    expect(bodyOf(request)).toBe(bodyOf(answer))
  }

  // A drachtio-server runs its own session timers, with other header values.
  const ownTimers = agent.capabilities.sessionTimers === 'agent'

  it(`a call without an ACK is hung up after 32 s while others continue${
    ownTimers
      ? '; a session of 90 s is refreshed at half time, by UPDATE if the caller allows it, else by re-INVITE'
      : ''
  }; ended calls leave no transaction`, async () => {
    const refreshes = ownTimers ? [refreshedByUpdate(), refreshedByInvite()] : []
    await Promise.all([hungUpWithoutAck(), endedWithoutAck(), ...refreshes, leavesNothing(agent)])
    await outgoing.gateway.settled()
  })
})
