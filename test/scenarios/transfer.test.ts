/** @schedule tones: listens for tones of the parties before and after a transfer. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import { scripted } from '../support/applications.ts'
import type { Carrier } from '../support/carrier.ts'
import { OutgoingGateway } from '../support/outgoing.ts'
import { apiToken, fetchWav, recordingOf, toneMs } from '../support/recorded.ts'
import { registeredPhone } from '../support/registered.ts'
import { bodyOf, headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

describe.each(agents)('transfers, by $name', (agent) => {
  let outgoing: OutgoingGateway
  const password = 'desk-secret-3'

  beforeAll(async () => {
    outgoing = await OutgoingGateway.start(
      agent,
      { first: {}, second: {} },
      {
        http: { apiToken },
        sip: { registrar: { domains: ['pbx.test'] } },
        endpoints: ['desk', 'office'].map((username) => ({ username, password })),
        resources: [
          { address: '/private/safe', handler: scripted('answer') },
          {
            address: '/public/news',
            handler: scripted('answer', { play: { url: 'say:Here is the news.' } }),
          },
        ],
      },
    )
  })

  afterAll(() => outgoing?.stop())

  const refer = (to: string) => [`Refer-To: <${to}>`, 'Referred-By: <sip:+15551230001@carrier.test>']

  /** Returns the value of Replaces that identifies a caller's dialog. */
  const replaces = (caller: Carrier): string => {
    const answer = caller.sipp.received('SIP/2.0 200')[0] ?? ''
    const tag = (name: string) => /tag=(.*)$/.exec(headerOf(answer, name) ?? '')?.[1]
    return `${headerOf(answer, 'Call-ID')};to-tag=${tag('To')};from-tag=${tag('From')}`
  }

  /** Connects a caller with a carrier, and returns both sides of the call. */
  const joined = async (
    carrier: 'first' | 'second',
    scenario: string,
    options: {
      readonly values?: Record<string, string | readonly string[]>
      readonly holdMs?: number | 'manual'
      /** Whether the callee hangs up on request; default false: the gateway hangs up. */
      readonly calleeHangsUp?: boolean
    } = {},
  ): Promise<{ readonly caller: Carrier; readonly callee: Carrier }> => {
    const bridges = () => outgoing.gateway.metric('bridges')
    const before = await bridges()
    const callee = await outgoing.target(
      carrier,
      options.calleeHangsUp ? 'callee-hangs-up' : 'callee-takes',
      { holdMs: 'manual' },
    )
    outgoing.connect = { to: `sip:desk@127.0.0.1:${outgoing.portOf(carrier)}` }
    const caller = await outgoing.call(carrier, scenario, options)
    if (!scenario.includes('refused')) await until('both are joined', bridges, (count) => count > before)
    return { caller, callee }
  }

  const registered = (username: 'desk' | 'office'): Promise<Carrier> =>
    registeredPhone(outgoing.gateway, username, password)

  it('a REFER connects the other party to a registered phone, and NOTIFY reports the outcome', async () => {
    const phone = await registered('desk')
    const values = { refer: refer('sip:desk@pbx.test') }
    const { caller, callee } = await joined('first', 'call-refers', { values, holdMs: 'manual' })
    await caller.goesOn()
    expect(await caller.sipp.event('trying')).toBe('100')
    await phone.talks('invited', 500)
    await callee.hears(500)
    await phone.goesOn()
    await outgoing.ended(caller, callee, phone)
    const [invite = ''] = phone.sipp.received('INVITE')
    expect(headerOf(invite, 'Referred-By')).toBe('<sip:+15551230001@carrier.test>')
    const notices = caller.sipp.received('NOTIFY')
    expect(bodyOf(notices.at(-1) ?? '')).toContain('SIP/2.0 200 OK')
    expect(headerOf(notices.at(-1) ?? '', 'Subscription-State')).toContain('terminated')
  })

  it('a REFER connects the other party to an address with a handler', async () => {
    const values = { refer: refer('sip:news@pbx.test') }
    const { caller, callee } = await joined('first', 'call-refers-answered', { values, holdMs: 'manual' })
    await caller.goesOn()
    await callee.talks('invited', 500)
    await callee.hearsVoice()
    await outgoing.ended(caller, callee)
    const notices = caller.sipp.received('NOTIFY')
    expect(bodyOf(notices.at(-1) ?? '')).toContain('SIP/2.0 200 OK')
  })

  it('the recording of a call continues after a REFER has replaced the caller', async () => {
    outgoing.before = [{ record_call: { stereo: true } }]
    const phone = await registered('office')
    const values = { refer: refer('sip:office@pbx.test') }
    const { caller, callee } = await joined('first', 'call-refers', { values, holdMs: 'manual' })
    await caller.talks('answered', 440)
    await callee.talks('invited', 1000)
    // Packets that a busy machine sends late are heard, but come too late for the recording.
    await callee.hears(440, 1000)
    await caller.hears(1000, 1000)
    await caller.goesOn()
    await phone.talks('invited', 1700)
    await callee.hears(1700, 1000)
    await phone.goesOn()
    await outgoing.ended(caller, callee, phone)
    const recording = await recordingOf(outgoing.gateway, caller)
    expect(recording).toMatchObject({ status: 'completed', channels: 2 })
    const { channels } = await fetchWav(recording.url)
    const [left, right] = channels.map((side) => [440, 1000, 1700].map((tone) => toneMs(side, tone)))
    // Left channel: the caller. Right channel: the caller's partner.
    for (const ms of [left![0], left![1], right![1], right![2]]) expect(ms).toBeGreaterThan(400)
    expect(left![2]).toBe(0)
    expect(channels[0]!.length / 8).toBe(recording.duration_ms)
  })

  it.each([
    ['a number at a foreign host', 403, 'sip:+15550000000@premium.test'],
    ['a telephone number', 403, 'tel:+15550000000'],
    ['an unknown address', 404, 'sip:nobody@through.test'],
    ['a private address', 403, 'sip:safe@through.test'],
    ['a URI of another scheme', 400, 'mailto:desk@carrier.test'],
  ])('a REFER of a carrier to %s is rejected with %i', async (_, status, to) => {
    const values = { refer: refer(to), status: String(status) }
    const { caller, callee } = await joined('first', 'call-refers-refused', { values })
    await outgoing.ended(caller, callee)
  })

  it('a REFER with Replaces connects the other parties of two calls', async () => {
    const one = await joined('second', 'caller-released', { calleeHangsUp: true })
    const target = `sip:desk@carrier.test?Replaces=${encodeURIComponent(replaces(one.caller))}`
    const two = await joined('first', 'call-refers-attended', {
      values: { refer: refer(target) },
      holdMs: 'manual',
    })
    await two.caller.goesOn()
    expect(await two.caller.sipp.event('done')).toBe('200')
    await two.caller.done()
    await one.caller.done()
    await one.callee.talks('invited', 500)
    await two.callee.talks('invited', 700)
    await one.callee.hears(700)
    await two.callee.hears(500)
    await one.callee.goesOn()
    await outgoing.ended(two.caller, one.callee, two.callee)
  })

  it('a REFER with Replaces of an unknown call is rejected', async () => {
    const target = `sip:desk@carrier.test?Replaces=${encodeURIComponent('gone;to-tag=a;from-tag=b')}`
    const values = { refer: refer(target), status: '603' }
    const { caller, callee } = await joined('first', 'call-refers-refused', { values })
    await outgoing.ended(caller, callee)
  })

  it('an INVITE with Replaces takes over a call of the same carrier', async () => {
    const { caller, callee } = await joined('first', 'caller-released')
    const more = [`Replaces: ${replaces(caller)}`]
    const second = await outgoing.call('first', 'call', { holdMs: 'manual', values: { more } })
    await caller.done()
    await second.talks('answered', 500)
    await callee.hears(500)
    await second.goesOn()
    await outgoing.ended(second, callee)
  })

  it.each([
    ['that does not exist', '127.0.0.1', 481],
    ['of another caller', '127.0.0.7', 403],
  ])('an INVITE with Replaces of a call %s is rejected', async (_, address, status) => {
    const { caller, callee } = await joined('first', 'call', { holdMs: 'manual' })
    const named = status === 403 ? replaces(caller) : 'gone;to-tag=a;from-tag=b'
    const values = { status, more: [`Replaces: ${named}`] }
    await (await outgoing.call('first', 'call-refused', { address, values })).done()
    await caller.goesOn()
    await outgoing.ended(caller, callee)
  })
})
