import { beforeEach, describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { carrierSdp } from '../testing/bench.ts'
import { OutboundRig } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'

describe('an offer of a gateway with both IP families', () => {
  let rig: OutboundRig

  const carry = (targets: readonly string[], changes: Partial<CarrierConfig> = {}) => {
    rig = new OutboundRig([testCarrier({ targets, ...changes })])
    rig.edge.families = [4, 6]
    rig.addresses['v6.example'] = ['2001:db8::1']
    rig.addresses['both.example'] = ['2001:db8::1', '192.0.2.1']
  }

  beforeEach(() => carry([]))

  /** Address of the description in the next INVITE. */
  const offered = () => /^c=IN (\S+ \S+)\r$/m.exec(rig.next().uac.options.localSdp ?? '')?.[1]

  it.each([
    ['sip:1@[2001:db8::7]', 'IP6 ::1'],
    ['sip:1@192.0.2.7', 'IP4 127.0.0.1'],
    ['sip:1@v6.example', 'IP6 ::1'],
    ['sip:1@both.example', 'IP4 127.0.0.1'],
    ['sip:1@unknown.example', 'IP4 127.0.0.1'],
  ])('to %s has an address of %s', async (uri, address) => {
    await rig.dial(uri)
    expect(offered()).toBe(address)
  })

  it('has the bound address if only one family is bound', async () => {
    rig.edge.families = [4]
    await rig.dial('sip:1@[2001:db8::7]')
    expect(offered()).toBe('IP4 127.0.0.1')
  })

  it('follows the targets of a carrier from one family to the other in one session', async () => {
    carry(['sip:[2001:db8::7]', 'sip:192.0.2.7', 'sip:v6.example'])
    const { leg, heard } = await rig.dial('sip:+1@[2001:db8::7]')
    const descriptions: string[] = []
    for (const status of [503, 503]) {
      const invite = rig.next()
      descriptions.push(invite.uac.options.localSdp ?? '')
      invite.refuse(status)
    }
    const last = rig.next()
    descriptions.push(last.uac.options.localSdp ?? '')
    expect(descriptions.map((sdp) => /^c=IN (\S+)/m.exec(sdp)?.[1])).toEqual(['IP6', 'IP4', 'IP6'])
    expect(new Set(descriptions.map((sdp) => /^m=audio (\d+)/m.exec(sdp)?.[1])).size).toBe(1)
    last.answer(carrierSdp({ address: '2001:db8::9' }))
    expect(heard.events).toEqual(['answered'])
    expect(rig.edge.ports[0]?.far?.address).toBe('2001:db8::9')
    leg.end({ code: 'normal' })
  })

  it('has the family that the carrier is configured for', async () => {
    carry(['sip:both.example'], { audioFamily: 'ipv6' })
    await rig.dial('sip:+1@both.example')
    expect(offered()).toBe('IP6 ::1')
  })

  it('can be answered in the other family', async () => {
    const { heard } = await rig.dial('sip:1@192.0.2.7')
    rig.next().answer(carrierSdp({ address: '2001:db8::9' }))
    expect([heard.events, rig.edge.ports[0]?.far?.address]).toEqual([['answered'], '2001:db8::9'])
  })
})
