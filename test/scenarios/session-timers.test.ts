import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import type { Carrier, IncomingOptions } from '../support/carrier.ts'
import type { Gateway } from '../support/gateway.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { answersTo, headerOf } from '../support/sip-text.ts'

const able = 'Supported: timer'
// A drachtio-server runs its own session timers, with other header values.
const ours = agents.filter(({ capabilities }) => capabilities.sessionTimers === 'agent')

describe.each(ours)('session timers, by $name', (agent) => {
  let outgoing: OutgoingGateway
  let gateway: Gateway

  beforeAll(async () => {
    outgoing = await OutgoingGateway.start(agent, { plain: {} })
    gateway = outgoing.gateway
  })

  afterAll(() => outgoing?.stop())

  /** Places a call through the gateway to a callee that answers at once. */
  const calls = async (scenario: string, values: IncomingOptions['values']): Promise<Carrier> => {
    const callee = await outgoing.target('plain', 'callee-takes')
    const caller = await outgoing.call('plain', scenario, { values })
    await outgoing.ended(caller, callee)
    return caller
  }

  const answered = (caller: Carrier, cseq = 1, method = 'INVITE'): string =>
    answersTo(caller.sipp.received('SIP/2.0 200'), cseq, method)[0] ?? ''

  describe('of an inbound call', () => {
    it.each([
      { asks: '300;refresher=uac', says: '300;refresher=uac', require: 'timer' },
      { asks: '300;refresher=uas', says: '300;refresher=uas', require: undefined },
      { asks: '300', says: '300;refresher=uac', require: 'timer' },
      { asks: '86400', says: '1800;refresher=uac', require: 'timer' },
    ])('that request $asks are answered with $says', async ({ asks, says, require }) => {
      const caller = await calls('call', { more: [able, `Session-Expires: ${asks}`] })
      expect(headerOf(answered(caller), 'Session-Expires')).toBe(says)
      expect(headerOf(answered(caller), 'Require')).toBe(require)
    })

    it('are refreshed by the gateway if the caller requests none', async () => {
      const caller = await calls('call', {})
      expect(headerOf(answered(caller), 'Session-Expires')).toBe('1800;refresher=uas')
      expect(headerOf(answered(caller), 'Require')).toBeUndefined()
    })

    it('can be requested in the compact form of the headers', async () => {
      const caller = await calls('call', { more: ['k: timer', 'x: 300'] })
      expect(headerOf(answered(caller), 'Session-Expires')).toBe('300;refresher=uac')
    })

    it('that are too short are rejected with 422 and the minimum', async () => {
      const values = { status: 422, more: [able, 'Session-Expires: 60', 'Min-SE: 30'] }
      const caller = await outgoing.call('plain', 'call-refused', { values })
      await caller.done()
      expect(headerOf(caller.sipp.received('SIP/2.0 422')[0] ?? '', 'Min-SE')).toBe('90')
      expect(await gateway.refusal('interval_too_small')).toMatchObject({ sessionExpires: '60' })
      expect(await gateway.metric('rejections_total', { code: 'interval_too_small' })).toBe(1)
    })

    it('that cannot be parsed are rejected with 400', async () => {
      const values = { status: 400, more: [able, 'Session-Expires: soon'] }
      await (await outgoing.call('plain', 'call-refused', { values })).done()
    })

    it('can be refreshed by re-INVITE, and by UPDATE with and without an offer', async () => {
      const refresh = [able, 'Session-Expires: 400;refresher=uac']
      const more = [able, 'Session-Expires: 300;refresher=uac']
      const caller = await calls('call-refresh', { more, refresh })
      const answers = [answered(caller, 2), answered(caller, 3, 'UPDATE'), answered(caller, 4, 'UPDATE')]
      for (const answer of answers) expect(headerOf(answer, 'Session-Expires')).toBe('400;refresher=uac')
    })
  })

  describe('of an outbound call', () => {
    it('are offered to the carrier, whose answer applies', async () => {
      const more = ['Session-Expires: 300;refresher=uas', 'Require: timer']
      const refresh = [able, 'Session-Expires: 300;refresher=uac']
      const callee = await outgoing.target('plain', 'callee-refreshes', { values: { more, refresh } })
      const caller = await outgoing.call('plain', 'call', { holdMs: 'manual' })
      await callee.sipp.event('reinvited')
      await caller.goesOn()
      await outgoing.ended(caller, callee)
      const [invite = ''] = callee.sipp.received('INVITE')
      expect(headerOf(invite, 'Session-Expires')).toBe('1800')
      expect(headerOf(invite, 'Min-SE')).toBe('90')
      expect(headerOf(invite, 'Supported')).toContain('timer')
      const answers = callee.sipp.received('SIP/2.0 200')
      expect(answers.map((answer) => headerOf(answer, 'Session-Expires'))).toEqual([
        '300;refresher=uac',
        '300;refresher=uac',
      ])
    })

    it('that are too short for the carrier are offered again with its minimum', async () => {
      const values = { status: 422, why: ['Min-SE: 3600'] }
      const first = await outgoing.target('plain', 'callee-declines', { values })
      const caller = await outgoing.call('plain', 'call')
      await first.done()
      // The second target receives the next INVITE, or a retransmission.
      const second = await outgoing.target('plain', 'callee-takes')
      expect(await outgoing.ended(caller, second)).toMatchObject({ code: 'normal' })
      const [invite = ''] = second.sipp.received('INVITE')
      expect(headerOf(invite, 'Session-Expires')).toBe('3600')
      expect(headerOf(invite, 'Min-SE')).toBe('3600')
      // Both INVITEs belong to the same call (RFC 4028 section 7.3).
      const [before = ''] = first.sipp.received('INVITE')
      for (const name of ['Call-ID', 'From']) expect(headerOf(invite, name)).toBe(headerOf(before, name))
      expect(parseInt(headerOf(invite, 'CSeq') ?? '', 10)).toBe(
        parseInt(headerOf(before, 'CSeq') ?? '', 10) + 1,
      )
    })
  })
})
