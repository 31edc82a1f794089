import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import type { Carrier } from '../support/carrier.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { bodyOf, headerOf, linesOf } from '../support/sip-text.ts'

const names = ['ack', 'prack', 'unusable', 'nothing']
const g729 = { payloads: '18', codecs: 'a=rtpmap:18 G729/8000' }

/** Outbound calls with a delayed offer: the carrier makes the offer, and the gateway answers. */
describe.each(agents)('a carrier with a late offer, by $name', (agent) => {
  const { hasReliableProvisionals: reliableProvisionals } = agent.capabilities
  let outgoing: OutgoingGateway

  beforeAll(async () => {
    outgoing = await OutgoingGateway.start(
      agent,
      Object.fromEntries(names.map((name) => [name, { lateOffer: true }])),
    )
  })

  afterAll(() => outgoing?.stop())

  const inviteOf = ({ sipp }: Carrier): string => sipp.received('INVITE')[0] ?? ''

  it('gets an INVITE without SDP, and the answer in the ACK', async () => {
    const carrier = await outgoing.target('ack', 'callee-offers', { codec: 'PCMA' })
    const caller = await outgoing.call('ack', 'call', { holdMs: 'manual' })
    carrier.media.send(await carrier.sipp.event('confirmed'), 700)
    await caller.talks('answered', 500)
    await Promise.all([caller.hears(700), carrier.hears(500)])
    await caller.goesOn()
    const record = await outgoing.ended(caller, carrier)
    expect(bodyOf(inviteOf(carrier)).trim()).toBe('')
    expect(headerOf(inviteOf(carrier), 'Content-Type')).toBeUndefined()
    expect(record).toMatchObject({
      code: 'normal',
      legs: [{}, { carrier: 'ack', tries: [{ sipStatus: 200 }] }],
    })
  })

  it.runIf(reliableProvisionals)('that offers in a reliable 183 gets the answer in the PRACK', async () => {
    const carrier = await outgoing.target('prack', 'callee-offers-early', { holdMs: 'manual' })
    const caller = await outgoing.call('prack', 'call', { holdMs: 'manual' })
    carrier.media.send(await carrier.sipp.event('acknowledged'), 700)
    await caller.hears(700)
    await carrier.goesOn()
    await carrier.sipp.event('confirmed')
    await caller.goesOn()
    await outgoing.ended(caller, carrier)
    expect(carrier.sipp.received('PRACK')).toHaveLength(1)
    expect(carrier.sipp.received('ACK').map((ack) => bodyOf(ack).trim())).toEqual([''])
  })

  it('whose offer has no common codec gets a refusal in the ACK, and a BYE with a Reason', async () => {
    const carrier = await outgoing.target('unusable', 'callee-offers', { values: g729 })
    const caller = await outgoing.call('unusable', 'call-refused', { values: { status: 488 } })
    const record = await outgoing.ended(caller, carrier)
    const [ack = ''] = carrier.sipp.received('ACK')
    expect(linesOf(ack, 'm=')).toEqual(['m=audio 0 RTP/AVP 18'])
    expect(headerOf(carrier.sipp.received('BYE')[0] ?? '', 'Reason')).toMatch(/^Q\.850;cause=\d+/)
    expect(record).toMatchObject({ legs: [{}, { code: 'no_common_codec', by: 'us' }] })
  })

  it('that answers without an offer is hung up', async () => {
    const carrier = await outgoing.target('nothing', 'callee-offers-nothing')
    const caller = await outgoing.call('nothing', 'call-refused', { values: { status: 502 } })
    const record = await outgoing.ended(caller, carrier)
    expect(carrier.sipp.received('ACK').map((ack) => bodyOf(ack).trim())).toEqual([''])
    expect(record).toMatchObject({ legs: [{}, { code: 'bad_sdp', by: 'us' }] })
  })
})
