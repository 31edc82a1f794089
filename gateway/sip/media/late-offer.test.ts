import { describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { farSdp } from '../testing/dialog-rig.ts'
import { OutboundRig, type PlacedInvite } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'

const number = 'sip:+49302@carrier.example'
const timers = { expiresMs: 1_800_000, minMs: 90_000 }
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

/** Calls a carrier with late offers, and returns the call with its INVITE. */
const dial = async (changes: Partial<CarrierConfig> = {}, target = number) => {
  const t = new OutboundRig([testCarrier({ lateOffer: true, ...changes })], true, timers)
  const dialled = await t.dial(target)
  return { t, ...dialled }
}
const called = async (changes: Partial<CarrierConfig> = {}, target = number) => {
  const made = await dial(changes, target)
  const invite = made.t.next()
  const offer = async (...args: Parameters<PlacedInvite['offer']>) => {
    const offered = invite.offer(...args)
    await turns()
    return offered
  }
  return { ...made, invite, offer }
}
const pcma = farSdp({ formats: '8 101' })
const g729 = farSdp({ formats: '18' })
const from = (tag: string) => ({ To: `<${number}>;tag=${tag}` })

describe('an INVITE without an offer', () => {
  it('has no body, and the answer to the offer of the 200 is in the ACK', async () => {
    const { t, leg, heard, invite, offer } = await called()
    const { options } = invite.uac
    expect(options).toMatchObject({ noAck: true })
    expect([options.localSdp, options.headers['Content-Type']]).toEqual([undefined, undefined])
    const { dialog, acks } = await offer(pcma)
    expect(acks).toHaveLength(1)
    expect(acks[0]).toContain('m=audio 20000 RTP/AVP 8 101\r\n')
    expect(heard.events).toEqual(['answered'])
    expect(t.edge.ports[0]?.far).toMatchObject({ address: '192.0.2.9', port: 4000, codec: 'PCMA' })
    expect(leg.attempts).toMatchObject([{ outcome: 'answered', sipStatus: 200 }])
    leg.end({ code: 'normal' })
    dialog.byes[0]?.()
    expect(t.left).toEqual([0, 0, 0, 0])
  })

  it('is used only if configured: by default carriers get an offer', async () => {
    const { invite } = await called({ lateOffer: false })
    expect(invite.uac.options.localSdp).toContain('m=audio')
    expect(invite.uac.options.headers['Content-Type']).toBe('application/sdp')
  })

  it('makes ringing audible before the answer, and ignores descriptions that no PRACK can answer', async () => {
    const { t, heard, invite, offer } = await called()
    invite.provisional(180)
    invite.provisional(183, pcma)
    expect(t.edge.ports[0]?.far).toBeUndefined()
    await offer(pcma)
    expect(heard.events).toEqual(['ringing', 'ringing', 'answered'])
  })

  it.each([
    ['no codec of ours', g729, {}, 'no_common_codec', /^m=audio 0 RTP\/AVP 18\r$/m],
    [
      'an unusable address',
      farSdp({ address: '224.0.0.1' }),
      {},
      'bad_sdp',
      /^m=audio 0 RTP\/AVP 0 8 101\r$/m,
    ],
    ['another kind of body', pcma, { 'Content-Type': 'text/plain' }, 'unsupported_body', undefined],
    ['what is no SDP', 'hello', {}, 'bad_sdp', undefined],
  ] as const)(
    'answered with %s gets an ACK with a refusal, and a BYE',
    async (_what, sdp, headers, code, refused) => {
      const { t, leg, heard, offer } = await called()
      const { dialog, acks } = await offer(sdp, headers)
      if (refused) expect(acks).toEqual([expect.stringMatching(refused)])
      else expect(acks).toEqual([undefined])
      expect(dialog.byeHeaders[0]?.Reason).toMatch(/^Q\.850;cause=\d+/)
      expect(heard.events).toEqual([`ended ${code} by us`])
      expect(leg.state).toMatchObject({ cause: { code } })
      dialog.byes[0]?.()
      expect(t.left).toEqual([0, 0, 0, 0])
    },
  )

  it('answered without an offer ends with a BYE', async () => {
    const { t, leg, invite } = await called()
    const dialog = invite.answer()
    expect(leg.state).toMatchObject({ by: 'us', cause: { code: 'bad_sdp' } })
    expect(dialog.byes).toHaveLength(1)
    dialog.byes[0]?.()
    expect(t.left).toEqual([0, 0, 0, 0])
  })

  it('ends if its answer creates no dialog', async () => {
    const { t, leg, offer } = await called()
    await offer(pcma, {}, true)
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'far_refused' } })
    expect(t.left).toEqual([0, 0, 0, 0])
  })
})

describe('an offer in a reliable 183', () => {
  it('is answered in the PRACK, and the 200 needs no answer', async () => {
    const { t, leg, heard, invite } = await called()
    const pracks = invite.reliable(183, pcma)
    expect(pracks).toEqual([expect.stringContaining('m=audio 20000 RTP/AVP 8 101\r\n')])
    expect(t.edge.ports[0]?.far?.codec).toBe('PCMA')
    invite.provisional(180)
    const dialog = invite.answer()
    expect(heard.events).toEqual(['early media', 'answered'])
    leg.end({ code: 'normal' })
    dialog.byes[0]?.()
    expect(t.left).toEqual([0, 0, 0, 0])
  })

  it('is the only one of its branch: further descriptions are not answered', async () => {
    const { heard, invite, offer } = await called()
    invite.reliable(183, pcma)
    expect(invite.reliable(183, farSdp({ version: 2 }), { RSeq: '2' })).toEqual([undefined])
    const { acks } = await offer(pcma)
    expect(acks).toEqual([undefined])
    expect(heard.events).toEqual(['early media', 'answered'])
  })

  it('that cannot be used is refused in the PRACK, and the call is cancelled', async () => {
    const { t, leg, invite } = await called()
    expect(invite.reliable(183, g729)).toEqual([expect.stringContaining('m=audio 0 RTP/AVP 18\r\n')])
    expect(leg.state).toMatchObject({ by: 'us', cause: { code: 'no_common_codec' } })
    expect(invite.request.canceled).toBe(1)
    invite.refuse(487)
    expect(t.left).toEqual([0, 0, 0, 0])
  })

  it('is answered for each branch, and the branch that answers the call is heard', async () => {
    const { t, heard, invite } = await called()
    const one = farSdp({ port: 4002 })
    const two = farSdp({ port: 4004 }).replace('o=- 7', 'o=- 8')
    invite.reliable(183, one, from('one'))
    expect(invite.reliable(183, two, from('two'))[0]).toContain('m=audio 20000')
    expect(t.edge.ports[0]?.far?.port).toBe(4004)
    invite.answer(undefined, from('one'))
    expect(t.edge.ports[0]?.far?.port).toBe(4002)
    expect(heard.events).toEqual(['early media', 'early media', 'answered'])
  })

  it('of another branch does not affect the offer of the 200', async () => {
    const { t, heard, invite, offer } = await called()
    invite.reliable(183, farSdp({ port: 4002 }), from('one'))
    const { acks } = await offer(farSdp({ port: 4004 }).replace('o=- 7', 'o=- 8'), from('two'))
    expect(acks[0]).toContain('m=audio 20000')
    expect(t.edge.ports[0]?.far?.port).toBe(4004)
    expect(heard.events).toEqual(['early media', 'answered'])
  })
})

describe('an INVITE without an offer, after a refusal', () => {
  it('is sent to the next target, and again after a challenge, without an offer', async () => {
    const auth = { username: 'trunk', password: 'secret' }
    const made = await dial({ targets: ['sip:a.example', 'sip:carrier.example'], auth })
    made.t.next().refuse(503)
    made.t.next().refuse(401, { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' })
    const third = made.t.next()
    expect(third.uac.options.localSdp).toBeUndefined()
    expect(third.uac.options.headers.Authorization).toContain('username="trunk"')
    expect(third.offer(pcma).acks).toHaveLength(1)
    await turns()
    expect(made.leg.isAnswered).toBe(true)
    expect(made.leg.attempts.map(({ outcome }) => outcome)).toEqual(['refused', 'answered'])
  })

  it('is sent again for a longer session timer, which then applies', async () => {
    const { t, leg } = await dial()
    t.next().refuse(422, { 'Min-SE': '3600' })
    const { dialog } = t.next().offer(pcma, { 'Session-Expires': '3600;refresher=uac' })
    await turns()
    expect(leg.isAnswered).toBe(true)
    t.clock.advance(1_800_000)
    expect(dialog.requests).toMatchObject([
      { method: 'INVITE', body: expect.stringContaining('m=audio 20000') },
    ])
  })

  it('whose CANCEL crosses the answer is acknowledged with a refusal and hung up', async () => {
    const { t, leg, heard, invite, offer } = await called()
    leg.end({ code: 'canceled' })
    expect(invite.request.canceled).toBe(1)
    const { dialog, acks } = await offer(pcma)
    expect(acks).toEqual([expect.stringContaining('m=audio 0 RTP/AVP 8 101\r\n')])
    dialog.byes[0]?.()
    expect(heard.events).toEqual(['ended canceled by us'])
    expect(t.left).toEqual([0, 0, 0, 0])
  })

  it('whose leg ends between ACK and dialog is hung up', async () => {
    const { t, leg, invite } = await called()
    const { dialog } = invite.offer(pcma)
    leg.end({ code: 'canceled' })
    await turns()
    dialog.byes[0]?.()
    expect(leg.state).toMatchObject({ cause: { code: 'canceled' } })
    expect(t.left).toEqual([0, 0, 0, 0])
  })

  it('that was silent for too long is refused and hung up when it is answered', async () => {
    const { t, leg, offer } = await called()
    t.clock.advance(8_000)
    expect(leg.state).toMatchObject({ cause: { code: 'unreachable' } })
    const { dialog, acks } = await offer(pcma)
    expect(acks[0]).toContain('m=audio 0 ')
    dialog.byes[0]?.()
    expect(t.left).toEqual([0, 0, 0, 0])
  })
})

describe('an offer of the carrier', () => {
  const key = `inline:${Buffer.alloc(30, 7).toString('base64')}`
  const keys = { lines: [`a=crypto:3 AES_CM_128_HMAC_SHA1_80 ${key}`] }
  const targets = ['sip:carrier.example;transport=tls']

  it.each([
    ['off', 'RTP/AVP', true, /^m=audio \d+ RTP\/AVP 0\r$/m],
    ['off', 'RTP/SAVP', true, undefined],
    ['optional', 'RTP/AVP', false, /^m=audio \d+ RTP\/AVP 0\r$/m],
    ['optional', 'RTP/AVP', true, /^m=audio \d+ RTP\/AVP 0\r\n[\s\S]*^a=crypto:3 /m],
    ['optional', 'RTP/SAVP', true, /^m=audio \d+ RTP\/SAVP 0\r\n[\s\S]*^a=crypto:3 /m],
    ['required', 'RTP/AVP', false, undefined],
    ['required', 'RTP/SAVP', true, /^m=audio \d+ RTP\/SAVP 0\r\n[\s\S]*^a=crypto:3 /m],
  ] as const)(
    'with %s for the policy %s (keys: %s) is answered with %s',
    async (srtp, profile, withKeys, expected) => {
      const { t, leg, offer } = await called({ srtp, targets }, `${number};transport=tls`)
      const { acks } = await offer(farSdp({ profile, formats: '0', ...(withKeys ? keys : { lines: [] }) }))
      if (expected) expect(acks[0]).toMatch(expected)
      else {
        expect(acks[0]).toContain(`m=audio 0 ${profile} 0\r\n`)
        expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'srtp_mismatch' } })
      }
      if (srtp === 'off') expect(acks[0]).not.toContain('a=crypto')
      expect(JSON.stringify(t.logged)).not.toContain(key)
    },
  )

  it('of one branch does not require keys from another', async () => {
    const { t, leg, invite } = await called({ srtp: 'optional', targets }, `${number};transport=tls`)
    const [early] = invite.reliable(183, farSdp({ formats: '0', ...keys }), { To: '<sip:x@y>;tag=1' })
    expect(early).toContain('a=crypto:3 ')
    const { acks } = invite.offer(farSdp({ formats: '0', lines: [] }), { To: '<sip:x@y>;tag=2' })
    await turns()
    expect(acks[0]).toMatch(/^m=audio \d+ RTP\/AVP 0\r$/m)
    expect(acks[0]).not.toContain('a=crypto')
    expect([leg.isAnswered, t.waiting]).toEqual([true, 0])
  })

  it('is not requested if keys are required and must not be sent in clear signalling', async () => {
    const { t, leg } = await dial({ srtp: 'required' })
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'srtp_mismatch' } })
    expect([t.waiting, ...t.left]).toEqual([0, 0, 0, 0, 0])
  })
})
