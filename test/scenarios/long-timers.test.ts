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
 * Calls with every kind of end on a gateway without others. Half a minute later it keeps no part of them, SIP
 * included.
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

// They last as long as the RFCs have it, and no setting shortens them: they run all at once.
describe.each(agents)('timers of half a minute and more, by $name', (agent) => {
  let outgoing: OutgoingGateway

  beforeAll(async () => {
    outgoing = await OutgoingGateway.start(agent, { plain: {} })
  })

  afterAll(() => outgoing?.stop())

  const calls = (scenario: string, values: Record<string, readonly string[]> = {}): Promise<Carrier> =>
    outgoing.call('plain', scenario, { domain: 'talk.test', timeoutMs: 80_000, values })

  /** 64 times T1 (RFC 3261 section 13.3.1.4). */
  const hungUpWithoutAck = async (): Promise<void> => {
    const lost = await calls('call-no-ack')
    await lost.sipp.event('answered')
    await (await calls('call')).done()
    await lost.sipp.event('bye', 45_000)
    await lost.done()
    expect(lost.sipp.received('SIP/2.0 200').length).toBeGreaterThan(8)
  }

  const asks = [able, 'Session-Expires: 90;refresher=uas']
  const terms = ['Session-Expires: 90;refresher=uac']

  /** A call that the gateway must refresh; `done` is SIPp's report. */
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
    // The last description, word by word: nothing changes.
    const [answer = ''] = answersTo(caller.sipp.received('SIP/2.0 200'), 1, 'INVITE')
    expect(bodyOf(request)).toBe(bodyOf(answer))
  }

  // A drachtio-server runs session timers of its own, and says other things of them.
  const ownTimers = agent.capabilities.sessionTimers === 'agent'

  it(`a call whose ACK never comes is hung up after 32 s, and others go on meanwhile${
    ownTimers ? '; at half of 90 s we refresh, by UPDATE where it is taken, else by a re-INVITE' : ''
  }; of calls that are over no transaction stays`, async () => {
    const refreshes = ownTimers ? [refreshedByUpdate(), refreshedByInvite()] : []
    await Promise.all([hungUpWithoutAck(), ...refreshes, leavesNothing(agent)])
    await outgoing.gateway.settled()
  })
})
