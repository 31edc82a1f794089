import { describe, expect, it } from 'vitest'
import { readSdp } from '../sdp/read-sdp.ts'
import { srtpPolicy } from '../sdp/srtp-policy.ts'
import { farSdp } from '../testing/dialog-rig.ts'
import { TestPort } from '../testing/fake-edge.ts'
import { OutboundRig } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { LegMedia } from './leg-media.ts'

const strong = 'AES_CM_128_HMAC_SHA1_80'
const weak = 'AES_CM_128_HMAC_SHA1_32'

/** Returns a description of the far side, with a key whose bytes are all `fill`. */
const secured = (fill: number, changes: { suite?: string; address?: string; port?: number } = {}) => {
  const { suite = weak, ...place } = changes
  const key = Buffer.alloc(30, fill).toString('base64')
  return farSdp({ profile: 'RTP/SAVP', formats: '0', ...place, lines: [`a=crypto:4 ${suite} inline:${key}`] })
}

const leg = () => {
  const port = new TestPort('call')
  const media = new LegMedia(port, '1', { srtp: srtpPolicy(undefined, true) })
  /** Answers an offer. Returns the local key, which must be the same in the SDP and at the port. */
  const answer = (offer: string) => {
    const [, key = ''] = /^a=crypto:4 \S+ inline:(\S+)$/m.exec(media.answer(readSdp(offer))) ?? []
    expect(port.far?.srtp?.sendKey).toEqual(new Uint8Array(Buffer.from(key, 'base64')))
    return key
  }
  return { port, media, answer }
}

describe('the gateway’s SRTP key', () => {
  it('stays with its roll-over counter if only the far side’s key is new, and over hold', () => {
    const { port, answer } = leg()
    const first = answer(secured(1))
    expect([secured(1), secured(2), secured(3, { address: '0.0.0.0' }), secured(4)].map(answer)).toEqual(
      Array(4).fill(first),
    )
    expect(port.far?.srtp?.receiveKey).toEqual(new Uint8Array(30).fill(4))
  })

  it.each([
    ['address', { address: '192.0.2.10' }],
    ['port', { port: 5000 }],
    ['suite', { suite: strong }],
  ])(
    'is new with another %s, because the new peer may not know the counter (RFC 4568 section 7.1.4)',
    (_what, changes) => {
      const { answer } = leg()
      const first = answer(secured(1))
      const second = answer(secured(2, changes))
      expect(second).not.toBe(first)
      expect(answer(secured(3, changes))).toBe(second)
    },
  )

  it('is new for each branch of a fork', () => {
    const { media, answer } = leg()
    const first = answer(secured(1))
    media.anotherBranch()
    expect(answer(secured(2))).not.toBe(first)
  })
})

describe('the SRTP suites of a carrier', () => {
  const srtpSuites = ['AEAD_AES_256_GCM', strong] as const
  const policy = { srtp: 'required', srtpWithoutTls: true, srtpSuites } as const

  it('are offered to the carrier in their order', async () => {
    const rig = new OutboundRig([testCarrier(policy)])
    await rig.dial('sip:+49302@carrier.example')
    const offer = rig.next().uac.options.localSdp ?? ''
    expect([...offer.matchAll(/^a=crypto:(\d+ \S+)/gm)].map(([, line]) => line)).toEqual([
      '1 AEAD_AES_256_GCM',
      `2 ${strong}`,
    ])
  })

  it('are the only ones accepted from the carrier', () => {
    const media = new LegMedia(new TestPort('call'), '1', { srtp: srtpPolicy(policy, false) })
    expect(() => media.answer(readSdp(secured(1)))).toThrow(`Found: RTP/SAVP with ${weak}`)
    expect(media.answer(readSdp(secured(1, { suite: strong })))).toContain(`a=crypto:4 ${strong} `)
  })
})
