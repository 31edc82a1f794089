import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import type { Carrier } from '../support/carrier.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { bodyOf, headerOf, linesOf } from '../support/sip-text.ts'

const names = ['ack', 'prack', 'unusable', 'nothing']
const g729 = { payloads: '18', codecs: 'a=rtpmap:18 G729/8000' }

/** Pain point 4, outbound. */
describe.each(agents)('carriers that make the offer, by $name', (agent) => {
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

  it('are sent no SDP, and get the answer in the ACK', async () => {
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

  it.runIf(reliableProvisionals)(
    'may make it in a reliable 183, and get the answer in the PRACK',
    async () => {
      const carrier = await outgoing.target('prack', 'callee-offers-early', { holdMs: 1_000 })
      const caller = await outgoing.call('prack', 'call', { holdMs: 300 })
      carrier.media.send(await carrier.sipp.event('acknowledged'), 700)
      await caller.hears(700)
      await outgoing.ended(caller, carrier)
      expect(carrier.sipp.received('PRACK')).toHaveLength(1)
      expect(carrier.sipp.received('ACK').map((ack) => bodyOf(ack).trim())).toEqual([''])
    },
  )

  it('whose offer cannot be used get a refusal in the ACK, and are hung up with a reason', async () => {
    const carrier = await outgoing.target('unusable', 'callee-offers', { values: g729 })
    const caller = await outgoing.call('unusable', 'call-refused', { values: { status: 488 } })
    const record = await outgoing.ended(caller, carrier)
    const [ack = ''] = carrier.sipp.received('ACK')
    expect(linesOf(ack, 'm=')).toEqual(['m=audio 0 RTP/AVP 18'])
    expect(headerOf(carrier.sipp.received('BYE')[0] ?? '', 'Reason')).toMatch(/^Q\.850;cause=\d+/)
    expect(record).toMatchObject({ legs: [{}, { code: 'no_common_codec', by: 'us' }] })
  })

  it('that make none are hung up', async () => {
    const carrier = await outgoing.target('nothing', 'callee-offers-nothing')
    const caller = await outgoing.call('nothing', 'call-refused', { values: { status: 502 } })
    const record = await outgoing.ended(caller, carrier)
    expect(carrier.sipp.received('ACK').map((ack) => bodyOf(ack).trim())).toEqual([''])
    expect(record).toMatchObject({ legs: [{}, { code: 'bad_sdp', by: 'us' }] })
  })
})
