import { describe, expect, it } from 'vitest'
import type { Destination } from '../../../handlers/verbs.ts'
import { farSdp } from '../testing/dialog-rig.ts'
import { FakeRequest, FakeResponse } from '../testing/fake-srf.ts'
import { OutboundRig, PlacedInvite } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'

const uri = 'sip:1@carrier.example'
const timers = { expiresMs: 1_800_000, minMs: 90_000 }
const rig = () => new OutboundRig([], true, timers)

describe('an INVITE of the gateway', () => {
  it('requests a session timer, and uses the terms of the 200', async () => {
    const t = rig()
    const { leg } = await t.dial(uri)
    const invite = t.next()
    expect(invite.uac.options.headers).toMatchObject({
      'Session-Expires': '1800',
      'Min-SE': '90',
      Supported: 'timer, replaces, norefersub, 100rel',
    })
    const headers = { 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' }
    const dialog = invite.answer(farSdp(), headers)
    t.clock.advance(300_000)
    expect(dialog.requests[0]).toMatchObject({ method: 'UPDATE' })
    leg.end({ code: 'normal' })
    dialog.byes[0]?.()
    expect(t.left).toEqual([0, 0, 0])
  })

  it('is repeated with the interval of a 422, and only if it is longer than before', async () => {
    const t = rig()
    const { leg } = await t.dial(uri)
    const first = t.next()
    first.refuse(422, { 'Min-SE': '3600' })
    const second = t.next()
    expect(second.uac.options.headers).toMatchObject({
      'Session-Expires': '3600',
      'Min-SE': '3600',
      // RFC 4028 section 7.3: the same call, and so the same Call-ID and From.
      'Call-ID': 'new-id',
      CSeq: '8 INVITE',
      From: first.request.get('From'),
    })
    expect(second.uri).toBe(first.uri)
    second.refuse(422, { 'Min-SE': '3600' })
    expect([t.waiting, leg.isEnded]).toEqual([0, true])
    expect(leg.attempts.map(({ sipStatus }) => sipStatus)).toEqual([422, 422])
  })

  it('stays in the same call if a challenge follows the 422', async () => {
    const t = rig()
    await t.dial(uri, { username: 'u', password: 'p' })
    const first = t.next()
    first.refuse(422, { 'Min-SE': '3600' })
    t.next().refuse(407, { 'Proxy-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' })
    expect(t.next().uac.options.headers).toMatchObject({
      'Session-Expires': '3600',
      'Proxy-Authorization': expect.stringContaining('username="u"'),
      'Call-ID': 'new-id',
      CSeq: '9 INVITE',
      From: expect.stringMatching(/;tag=ours$/),
    })
  })

  it.each([
    [600, '600'],
    [30, '90'],
    [1_000_000, '86400'],
  ])(
    'requests the session timer of its destination, %i s, within bounds',
    async (sessionTimerSeconds, expected) => {
      const t = rig()
      await t.dial(uri, { sessionTimerSeconds })
      const invite = t.next()
      expect(invite.uac.options.headers).toMatchObject({ 'Session-Expires': expected, 'Min-SE': '90' })
      const dialog = invite.answer(farSdp())
      t.clock.advance(Number(expected) * 500 - 1)
      expect(dialog.requests).toEqual([])
      t.clock.advance(1)
      expect(dialog.requests[0]?.headers).toMatchObject({ 'Session-Expires': `${expected};refresher=uac` })
    },
  )

  it('requests the destination’s session timer from an agent with its own timers', async () => {
    const t = new OutboundRig([], true, undefined)
    await t.dial(uri)
    expect(t.next().uac.options.headers).not.toHaveProperty('Session-Expires')
    await t.dial(uri, { sessionTimerSeconds: 300 })
    expect(t.next().uac.options.headers).toMatchObject({ 'Session-Expires': '300' })
  })

  it('starts another call at another target', async () => {
    const t = new OutboundRig(
      [testCarrier({ targets: ['sip:carrier.example', 'sip:b.example'] })],
      true,
      timers,
    )
    await t.dial(uri)
    t.next().refuse(422, { 'Min-SE': '3600' })
    t.next().refuse(503)
    const other = t.next()
    expect(other.uri).toBe('sip:1@b.example')
    expect(other.uac.options.headers).toMatchObject({ 'Session-Expires': '3600' })
    expect(other.uac.options.headers).not.toHaveProperty('Call-ID')
  })

  it.each([
    ['by UPDATE', { Allow: 'INVITE, UPDATE' }, 'UPDATE'],
    ['by re-INVITE', {}, 'INVITE'],
  ])('is refreshed by the gateway only, %s, if the 200 has no timer', async (_how, headers, method) => {
    const t = rig()
    const { leg } = await t.dial(uri)
    const dialog = t.next().answer(farSdp(), headers)
    t.clock.advance(900_000)
    expect(dialog.requests.map((request) => request.method)).toEqual([method])
    dialog.requests[0]?.reply(200, method === 'INVITE' ? { body: farSdp() } : {})
    // The second one finds that the far side is gone, and its BYE was lost.
    t.clock.advance(900_000)
    dialog.requests[1]?.reply(481)
    expect([dialog.requests.length, leg.isEnded, dialog.byes.length]).toEqual([2, true, 1])
  })

  it('is refreshed with the interval of a 422 even if the 200 has no timer', async () => {
    const t = rig()
    await t.dial(uri)
    t.next().refuse(422, { 'Min-SE': '3600' })
    const dialog = t.next().answer(farSdp())
    t.clock.advance(1_799_999)
    expect(dialog.requests).toEqual([])
    t.clock.advance(1)
    expect(dialog.requests[0]?.headers).toMatchObject({ 'Session-Expires': '3600;refresher=uac' })
  })

  it('ends if the refreshes get no answer', async () => {
    const t = rig()
    const { leg } = await t.dial(uri)
    t.next().answer(farSdp())
    t.clock.advance(1_800_000)
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'session_expired' } })
  })
})

describe('UPDATE before the answer', () => {
  const update = (body: string) => {
    const request = new FakeRequest('UPDATE', 'sip:x@y', body)
    return { request, response: new FakeResponse() }
  }

  it('gets 491 while the gateway’s offer is pending, and is accepted after the answer', async () => {
    const t = rig()
    await t.dial(uri)
    const invite = t.next()
    const early = update(farSdp())
    invite.request.emit('update', early.request, early.response)
    expect(early.response.statuses).toEqual([491])
    invite.provisional(183, farSdp())
    const late = update(farSdp({ version: 2, address: '192.0.2.40' }))
    invite.request.emit('update', late.request, late.response)
    expect(late.response.statuses).toEqual([200])
    expect(t.edge.ports[0]?.far?.address).toBe('192.0.2.40')
  })
})

describe('an offer of the gateway', () => {
  const secure = 'sip:1@carrier.example;transport=tls'
  const offer = async (
    srtp: 'off' | 'optional' | 'required',
    target: string,
    srtpWithoutTls = false,
    encryption?: Destination['encryption'],
  ) => {
    const targets = [target.replace('sip:1@', 'sip:')]
    const t = new OutboundRig([testCarrier({ targets, srtp, srtpWithoutTls })])
    const { leg } = await t.dial(target, { encryption })
    return { t, leg, sdp: leg.isEnded ? '' : (t.next().uac.options.localSdp ?? '') }
  }
  const shape = (sdp: string) => [
    /^m=audio \d+ (\S+)/m.exec(sdp)?.[1],
    sdp.match(/^a=crypto:/gm)?.length ?? 0,
  ]

  it.each([
    ['off', secure, false, ['RTP/AVP', 0]],
    ['optional', secure, false, ['RTP/AVP', 6]],
    ['required', secure, false, ['RTP/SAVP', 6]],
    ['optional', uri, false, ['RTP/AVP', 0]],
    ['optional', uri, true, ['RTP/AVP', 6]],
    ['required', uri, true, ['RTP/SAVP', 6]],
  ] as const)('with %s to %s (keys without TLS: %s) has %j', async (srtp, target, without, expected) => {
    expect(shape((await offer(srtp, target, without)).sdp)).toEqual(expected)
  })

  it.each([
    ['off', 'mandatory', ['RTP/SAVP', 6]],
    ['off', 'optional', ['RTP/AVP', 0]],
    ['optional', 'mandatory', ['RTP/SAVP', 6]],
    ['optional', 'forbidden', ['RTP/AVP', 0]],
    // What the carrier demands is not for a document to loosen.
    ['required', 'forbidden', ['RTP/SAVP', 6]],
    ['required', 'optional', ['RTP/SAVP', 6]],
  ] as const)('with %s, and %s for the destination, has %j', async (srtp, encryption, expected) => {
    expect(shape((await offer(srtp, secure, false, encryption)).sdp)).toEqual(expected)
  })

  it.each([
    ['optional', 'required', ['RTP/SAVP', 6]],
    ['optional', 'forbidden', ['RTP/AVP', 0]],
    ['required', 'optional', ['RTP/SAVP', 6]],
  ] as const)('with %s of the carrier, and %s of the gateway, has %j', async (srtp, encryption, expected) => {
    const t = new OutboundRig([testCarrier({ targets: [secure.replace('sip:1@', 'sip:')], srtp })])
    await t.dial(secure, {}, { address: '/public/branch', encryption, codecs: ['G722'] })
    const sdp = t.next().uac.options.localSdp ?? ''
    expect(shape(sdp)).toEqual(expected)
    expect(sdp).toMatch(/^m=audio \d+ \S+ 9( 101)?\r$/m)
  })

  it('is not sent to a gateway that requires keys and is not reached by TLS', async () => {
    const t = new OutboundRig([testCarrier({ targets: ['sip:carrier.example'] })])
    const { leg } = await t.dial(uri, {}, { address: '/public/branch', encryption: 'required' })
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'srtp_mismatch' } })
  })

  it('is not sent if a document requires keys that must not be shown', async () => {
    const { leg } = await offer('optional', uri, false, 'mandatory')
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'srtp_mismatch' } })
  })

  it('is not sent if keys are required and must not be shown', async () => {
    const { t, leg } = await offer('required', uri)
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'srtp_mismatch' } })
    expect(t.left).toEqual([0, 0, 0, 0])
  })

  it('is never logged with its keys', async () => {
    const { t, sdp } = await offer('required', secure)
    const key = /inline:(\S{8})/.exec(sdp)?.[1] ?? 'none'
    expect(JSON.stringify(t.logged)).not.toContain(key)
  })

  it('is answered by each branch of a fork separately, with or without keys', async () => {
    const { t, leg, sdp } = await offer('optional', secure)
    const line = /^a=crypto:(\d+ \S+) /m.exec(sdp)?.[1]
    const plain = farSdp({ formats: '0', lines: [] })
    const invite = new PlacedInvite(t.srf.invites[0]!)
    invite.provisional(
      183,
      farSdp({ formats: '0', lines: [`a=crypto:${line} inline:${Buffer.alloc(30, 1).toString('base64')}`] }),
      {
        To: '<sip:x@y>;tag=1',
      },
    )
    invite.answer(plain, { To: '<sip:x@y>;tag=2' })
    expect(leg.isAnswered).toBe(true)
  })

  it('that is rejected with optional keys is repeated with required keys', async () => {
    const { t, leg, sdp } = await offer('optional', secure)
    new PlacedInvite(t.srf.invites[0]!).refuse(488)
    const second = t.next()
    const strict = second.uac.options.localSdp ?? ''
    expect([second.uri, shape(strict)]).toEqual([secure, ['RTP/SAVP', 6]])
    expect(second.uac.options.headers).toMatchObject({ 'Call-ID': 'new-id', CSeq: '8 INVITE' })
    expect(strict.match(/^a=crypto.*/gm)).toEqual(sdp.match(/^a=crypto.*/gm))
    const dialog = second.answer(farSdp())
    // A plain answer to it is none.
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'srtp_mismatch' } })
    expect(dialog.byes).toHaveLength(1)
  })

  it.each([
    ['refuses', (invite: PlacedInvite) => invite.refuse(503)],
    ['says nothing', (_invite: PlacedInvite, t: OutboundRig) => t.clock.advance(8_000)],
  ])(
    'is sent to the next target with optional keys if the target that required them %s',
    async (_what, ends) => {
      const targets = ['sip:carrier.example;transport=tls', 'sip:b.example;transport=tls']
      const t = new OutboundRig([testCarrier({ targets, srtp: 'optional' })])
      const { leg } = await t.dial(secure)
      t.next().refuse(488)
      const strict = t.next()
      expect([strict.uri, shape(strict.uac.options.localSdp ?? '')]).toEqual([secure, ['RTP/SAVP', 6]])
      ends(strict, t)
      const other = t.next()
      expect([other.uri, shape(other.uac.options.localSdp ?? '')]).toEqual([
        'sip:1@b.example;transport=tls',
        ['RTP/AVP', 6],
      ])
      expect(other.uac.options.headers).not.toHaveProperty('Call-ID')
      // It may demand them itself.
      other.refuse(488)
      const demanded = t.next()
      expect([demanded.uri, shape(demanded.uac.options.localSdp ?? '')]).toEqual([other.uri, ['RTP/SAVP', 6]])
      demanded.refuse(503)
      expect([
        leg.isEnded,
        leg.attempts
          .map(({ sipStatus }) => sipStatus)
          .filter(Boolean)
          .at(-1),
      ]).toEqual([true, 503])
    },
  )

  it('keeps required keys at every target', async () => {
    const targets = ['sip:carrier.example;transport=tls', 'sip:b.example;transport=tls']
    const t = new OutboundRig([testCarrier({ targets, srtp: 'required' })])
    await t.dial(secure)
    t.next().refuse(503)
    expect(shape(t.next().uac.options.localSdp ?? '')).toEqual(['RTP/SAVP', 6])
  })

  it('is not sent a third time, and not repeated without optional keys', async () => {
    const both = await offer('optional', secure)
    new PlacedInvite(both.t.srf.invites[0]!).refuse(488)
    both.t.next().refuse(488)
    const strict = await offer('required', secure)
    new PlacedInvite(strict.t.srf.invites[0]!).refuse(488)
    const plain = await offer('off', secure)
    new PlacedInvite(plain.t.srf.invites[0]!).refuse(488)
    for (const { t, leg } of [both, strict, plain]) {
      expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'far_refused', sip: 488 } })
      expect([t.waiting, ...t.left]).toEqual([0, 0, 0, 0, 0])
    }
  })

  it('with required keys ends the call after a plain answer', async () => {
    const t = new OutboundRig([
      testCarrier({ targets: ['sip:carrier.example;transport=tls'], srtp: 'required' }),
    ])
    const { leg } = await t.dial(secure)
    const dialog = t.next().answer(farSdp())
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'srtp_mismatch' } })
    expect(dialog.byes).toHaveLength(1)
  })
})
