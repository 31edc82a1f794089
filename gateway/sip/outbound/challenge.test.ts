import { describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { OutboundRig } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'

const setUp = (changes: Partial<CarrierConfig> = {}) =>
  new OutboundRig([testCarrier({ targets: ['sip:a.example', 'sip:b.example'], ...changes })])
const number = 'sip:+1@a.example'
const outcomes = (leg: { attempts: readonly { outcome: string; sipStatus?: number; target: string }[] }) =>
  leg.attempts.map(({ outcome, sipStatus, target }) => [target, outcome, sipStatus])

describe('a challenge', () => {
  const challenge = (realm: string, more = '') => ({
    'WWW-Authenticate': `Digest realm="${realm}", nonce="n"${more}`,
  })
  const auth = { username: 'trunk', password: 'hush', realm: 'carrier' }

  it('of the carrier is answered in the same call, for the real request-URI', async () => {
    const rig = setUp({ auth })
    await rig.dial(number)
    rig.next().refuse(401, challenge('carrier', ', qop="auth", algorithm=SHA-256'))
    const again = rig.next()
    const { headers } = again.uac.options
    expect(headers).toMatchObject({ 'Call-ID': 'new-id', CSeq: '8 INVITE' })
    expect(headers.From).toMatch(/;tag=ours$/)
    expect(headers.Authorization).toContain('uri="sip:+1@a.example", ')
    expect(headers.Authorization).toContain('algorithm=SHA-256')
    // Another server of the name would not know the nonce.
    expect(again.uac.options.proxy).toBe('sip:192.0.2.9:5060;transport=udp')
    expect(JSON.stringify(rig.logged)).not.toContain('hush')
  })

  it('with another realm is not answered (CVE-2021-41158)', async () => {
    const rig = setUp({ auth })
    const { leg } = await rig.dial(number)
    rig.next().refuse(401, challenge('elsewhere'))
    expect(leg.state).toMatchObject({ cause: { code: 'far_refused', sip: 401 } })
    expect(rig.waiting).toBe(0)
    expect(rig.logged).toContainEqual(expect.objectContaining({ why: 'another realm' }))
  })

  it('of a party that is not a carrier is not answered', async () => {
    const rig = setUp({ auth: { username: 'trunk', password: 'hush' } })
    const { leg } = await rig.dial('sip:x@stranger.example')
    rig.next().refuse(407, { 'Proxy-Authenticate': 'Digest realm="carrier", nonce="n"' })
    expect([leg.isEnded, rig.waiting]).toEqual([true, 0])
  })

  it('after a redirection is not answered with the credentials of the first target', async () => {
    const rig = setUp({ auth })
    const { leg } = await rig.dial(number, { username: 'doc', password: 'd' })
    rig.next().refuse(302, { Contact: '<sip:+2@b.example>' })
    rig.next().refuse(401, challenge('document'))
    expect(leg.isEnded).toBe(true)
  })

  it('that is repeated after the answer ends the attempt', async () => {
    const rig = setUp({ auth })
    const { leg } = await rig.dial(number)
    rig.next().refuse(401, challenge('carrier'))
    rig.next().refuse(401, challenge('carrier'))
    expect(leg.state).toMatchObject({ cause: { sip: 401 } })
    expect(rig.left).toEqual([0, 0, 0, 0])
  })

  it('that crosses the gateway’s CANCEL is not answered', async () => {
    const rig = setUp({ auth })
    const { leg } = await rig.dial(number)
    const invite = rig.next()
    leg.end({ code: 'canceled' })
    invite.refuse(401, challenge('carrier'))
    expect([rig.waiting, invite.request.canceled]).toEqual([0, 1])
    expect(rig.left).toEqual([0, 0, 0, 0])
  })

  it('does not prevent the CANCEL of the INVITE that answers it', async () => {
    const rig = setUp({ auth })
    const { leg } = await rig.dial(number)
    rig.next().refuse(401, challenge('carrier'))
    leg.end({ code: 'canceled' })
    const again = rig.next()
    expect(again.request.canceled).toBe(1)
    again.refuse(487)
    expect(rig.left).toEqual([0, 0, 0, 0])
    expect(outcomes(leg)).toEqual([['sip:+1@a.example', 'canceled', undefined]])
  })
})
