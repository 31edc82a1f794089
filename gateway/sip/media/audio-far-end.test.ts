import { describe, expect, it } from 'vitest'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { readSdp } from '../sdp/read-sdp.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { audioRules, type FarEndContext, farEndOf, strictRules } from './audio-far-end.ts'

const sdp = (lines: readonly string[], address = '192.0.2.9') =>
  [
    'v=0',
    'o=- 1 1 IN IP4 192.0.2.9',
    's=-',
    `c=IN IP4 ${address}`,
    't=0 0',
    'm=audio 4000 RTP/AVP 0',
    ...lines,
    '',
  ].join('\r\n')

const far = (lines: readonly string[], changes: Partial<FarEndContext> & { address?: string } = {}) => {
  const { address, ...facts } = changes
  const [audio] = readSdp(sdp(lines, address)).audios
  return farEndOf(audio, {
    chosen: audio.codecs[0]!,
    srtp: undefined,
    source: '192.0.2.1',
    before: undefined,
    rules: strictRules,
    ...facts,
  })
}

describe('the far end of a description', () => {
  it('is learned by the rules of its carrier, of endpoints, or of unknown peers', () => {
    const carrier = testCarrier({ symmetric: 'first', inbandDigits: true })
    expect(audioRules({ carrier })).toMatchObject({ symmetric: 'first', inbandDigits: true })
    expect(audioRules({ carrier, endpoint: {} }).symmetric).toBe('first')
    expect(audioRules({ endpoint: {} })).toEqual({ ...strictRules, symmetric: 'same-ip' })
    expect(audioRules({})).toEqual(strictRules)
  })

  it('has the codecs of the called domain, or else of its carrier or endpoint, or G.711', () => {
    const carrier = testCarrier({ codecs: ['PCMA'], ptime: 30, comfortNoise: true })
    const app = { codecs: ['G722'] } as const
    const endpoint = { codecs: ['opus'] } as const
    expect(audioRules({ carrier, app })).toMatchObject({ codecs: ['G722'], ptimeMs: 30, comfortNoise: true })
    expect(audioRules({ carrier, app: {} }).codecs).toEqual(['PCMA'])
    expect(audioRules({ endpoint }).codecs).toEqual(['opus'])
    expect(audioRules({}).codecs).toEqual(['PCMU', 'PCMA'])
  })

  it.each([
    ['strict', undefined],
    ['same-ip', '192.0.2.1'],
    ['first', '192.0.2.1'],
  ] as const)('with %s has its signalling source as %s', (symmetric, signalledFrom) => {
    const end = far([], { rules: { ...strictRules, symmetric } })
    expect([end?.symmetric, end?.signalledFrom, end?.learnFrom]).toEqual([
      symmetric,
      signalledFrom,
      undefined,
    ])
  })

  it('detects digits in the audio if necessary', () => {
    expect(far([])).not.toHaveProperty('inbandDigits')
    expect(far([], { rules: { ...strictRules, inbandDigits: true } })?.inbandDigits).toBe(true)
  })

  it('has RTCP at the port and address of a=rtcp', () => {
    expect(far(['a=rtcp:7001'])).toMatchObject({ rtcpPort: 7001 })
    expect(far(['a=rtcp:7001'])).not.toHaveProperty('rtcpAddress')
    expect(far(['a=rtcp:7001 IN IP4 192.0.2.77'])).toMatchObject({
      rtcpPort: 7001,
      rtcpAddress: '192.0.2.77',
    })
  })

  it.each([
    ['our own host', '127.0.0.1'],
    ['unspecified', '0.0.0.0'],
    ['many', '239.1.1.1'],
    ['a private address behind NAT', '10.0.0.4'],
    ['a name', 'rtcp.example'],
    ['the address of audio', '192.0.2.9'],
  ])('ignores the address of a=rtcp if it is %s', (_, address) => {
    const end = far([`a=rtcp:7001 IN IP4 ${address}`])
    expect(end?.rtcpPort).toBe(7001)
    expect(end).not.toHaveProperty('rtcpAddress')
  })

  it('has each announced source once', () => {
    const lines = ['a=ssrc:4000000000 cname:x', 'a=ssrc:4000000000 msid:a b', 'a=ssrc:7 cname:x']
    expect(far(lines)?.ssrcs).toEqual([4_000_000_000, 7])
    expect(far([])).not.toHaveProperty('ssrcs')
    const many = Array.from({ length: 17 }, (_, i) => `a=ssrc:${i} cname:x`)
    expect(far(many)).not.toHaveProperty('ssrcs')
  })

  it('is unchanged by a hold with 0.0.0.0, and rejected at a forbidden address', () => {
    const before = far([])
    expect(far([], { address: '0.0.0.0', before })).toMatchObject({ address: '192.0.2.9', port: 4000 })
    expect(far([], { address: '0.0.0.0' })).toBeUndefined()
    expect(() => far([], { address: '127.0.0.1' })).toThrow(TrunklineError)
  })
})
