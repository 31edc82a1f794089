import { describe, expect, it } from 'vitest'
import { srtpSuites } from '../../../config/srtp-suites.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { answeredCrypto, offeredCrypto, readCrypto, writeCrypto } from './crypto-lines.ts'
import { readSdp } from './read-sdp.ts'
import { acceptedSecurity, chooseAudio, offeredSecurity, type SrtpPolicy } from './srtp-policy.ts'

const key = Buffer.alloc(30, 5).toString('base64')
const other = Buffer.alloc(30, 9).toString('base64')
const strong = 'AES_CM_128_HMAC_SHA1_80'
const weak = 'AES_CM_128_HMAC_SHA1_32'

const policy = (mode: SrtpPolicy['mode']): SrtpPolicy => ({ mode, mayHaveKeys: true, suites: srtpSuites })

describe('a=crypto', () => {
  it.each([
    [`1 ${strong} inline:${key}`, 1, strong],
    [`999999999 ${weak} inline:${key}|2^20`, 999_999_999, weak],
    [`3 ${strong} inline:${key}|1048576 WSH=64 -x=y`, 3, strong],
    [`3 ${strong} INLINE:${key}|2^48`, 3, strong],
  ])('is parsed: %s', (value, tag, suite) => {
    expect(readCrypto(value)).toEqual({ tag, suite, key: new Uint8Array(30).fill(5) })
  })

  it.each([
    ['AES_CM_128_HMAC_SHA1_80', 30],
    ['AES_CM_128_HMAC_SHA1_32', 30],
    ['AES_256_CM_HMAC_SHA1_80', 46],
    ['AES_256_CM_HMAC_SHA1_32', 46],
    ['AEAD_AES_128_GCM', 28],
    ['AEAD_AES_256_GCM', 44],
  ] as const)('is parsed with the suite %s and exactly %d key bytes, padded or not', (suite, bytes) => {
    const text = (length: number) => Buffer.alloc(length, 5).toString('base64')
    const expected = { tag: 1, suite, key: new Uint8Array(bytes).fill(5) }
    expect(readCrypto(`1 ${suite} inline:${text(bytes)}`)).toEqual(expected)
    expect(readCrypto(`1 ${suite} inline:${text(bytes).replaceAll('=', '')}|2^31`)).toEqual(expected)
    for (const wrong of [bytes - 1, bytes + 1, 0])
      expect(readCrypto(`1 ${suite} inline:${text(wrong)}`)).toBe('malformed')
  })

  it.each([
    `1 F8_128_HMAC_SHA1_80 inline:anything`,
    `1 ${strong} inline:${key};inline:${other}`,
    `1 ${strong} inline:${key}|2^20|1:4`,
    `1 ${strong} inline:${key} UNENCRYPTED_SRTP`,
    `1 ${strong} inline:${key} KDR=1`,
  ])('is ignored with %s', (value) => {
    expect(readCrypto(value)).toBeUndefined()
  })

  it.each([
    '',
    'x',
    `1 ${strong}`,
    `${strong} inline:${key}`,
    `1234567890 ${strong} inline:${key}`,
    `1 ${strong} inline:`,
    `1 ${strong} inline:abcd`,
    `1 ${strong} inline:${key}AAAA`,
    `1 ${strong} inline:${key.slice(0, -1)}`,
    `1 ${strong} inline:${key.slice(0, -1)}=`,
    `1 ${strong} inline:${key}|2^49`,
    `1 ${strong} inline:${key}|x`,
    `1 ${strong} file:${key}`,
    `1 ${strong} inline:${key} NONSENSE`,
  ])('is rejected as malformed: %j', (value) => {
    expect(readCrypto(value)).toBe('malformed')
  })

  it('is written as it is parsed, with a new key for each line', () => {
    let filled = 0
    const random = (bytes: number) => new Uint8Array(bytes).fill(++filled)
    const lines = offeredCrypto(srtpSuites, random)
    expect(lines.map(({ tag, suite, key: [first] }) => [tag, suite, first])).toEqual([
      [1, strong, 1],
      [2, 'AEAD_AES_256_GCM', 2],
      [3, 'AEAD_AES_128_GCM', 3],
      [4, 'AES_256_CM_HMAC_SHA1_80', 4],
      [5, weak, 5],
      [6, 'AES_256_CM_HMAC_SHA1_32', 6],
    ])
    for (const line of lines) expect(readCrypto(writeCrypto(line))).toEqual(line)
    expect(answeredCrypto(lines[3]!, random)).toEqual({
      tag: 4,
      suite: 'AES_256_CM_HMAC_SHA1_80',
      key: new Uint8Array(46).fill(7),
    })
  })

  it('is answered with the first supported line of an offer', () => {
    const lines = [
      `1 F8_128_HMAC_SHA1_80 inline:${key}`,
      `2 AEAD_AES_256_GCM inline:${Buffer.alloc(44, 6).toString('base64')}`,
      `3 ${strong} inline:${key}`,
    ]
    const offer = session + savp + lines.map((line) => `a=crypto:${line}\r\n`).join('')
    const { crypto: chosen } = chooseAudio(readSdp(offer), policy('required'))
    expect(chosen).toEqual({ tag: 2, suite: 'AEAD_AES_256_GCM', key: new Uint8Array(44).fill(6) })
  })

  it('is answered with the first permitted line of an offer, or rejected', () => {
    const lines = [`1 ${weak} inline:${key}`, `2 ${strong} inline:${other}`]
    const offer = (profile: string) =>
      session + profile + lines.map((line) => `a=crypto:${line}\r\n`).join('')
    const only = (mode: SrtpPolicy['mode'], ...suites: SrtpPolicy['suites']) => ({ ...policy(mode), suites })
    const chosen = (...args: Parameters<typeof only>) =>
      chooseAudio(readSdp(offer(savp)), only(...args)).crypto
    expect(chosen('required', 'AEAD_AES_256_GCM', strong)).toMatchObject({ tag: 2, suite: strong })
    expect(chosen('required', strong, weak)).toMatchObject({ tag: 1, suite: weak })
    expect(() => chosen('optional', 'AEAD_AES_256_GCM')).toThrow(`Found: RTP/SAVP with ${weak}, ${strong};`)
    expect(chooseAudio(readSdp(offer(avp)), only('optional', 'AEAD_AES_256_GCM')).crypto).toBeUndefined()
  })

  it('is offered for each permitted suite, in order', () => {
    const lines = offeredCrypto(['AEAD_AES_128_GCM', weak], (bytes) => new Uint8Array(bytes))
    expect(lines.map(({ tag, suite }) => [tag, suite])).toEqual([
      [1, 'AEAD_AES_128_GCM'],
      [2, weak],
    ])
  })

  it('never appears with its key in an error', () => {
    const sdp = (value: string) =>
      `v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/SAVP 0\r\na=crypto:${value}\r\n`
    const shown = (run: () => unknown) => {
      try {
        run()
      } catch (error) {
        if (error instanceof TrunklineError) return `${error.message} ${JSON.stringify(error.facts)}`
      }
      throw new Error('nothing was refused')
    }
    const text = shown(() => readSdp(sdp(`1 ${strong} inline:${key}=broken`)))
    const refused = shown(() => chooseAudio(readSdp(sdp(`1 ${strong} inline:${key}`)), policy('off')))
    expect(text + refused).not.toContain(key.slice(0, 8))
  })
})

const session = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n'
const avp = 'm=audio 4000 RTP/AVP 0\r\n'
const savp = 'm=audio 4002 RTP/SAVP 0\r\n'
const crypto = `a=crypto:1 ${strong} inline:${key}\r\n`
const offers = {
  AVP: avp,
  SAVP: savp + crypto,
  'AVP with keys': avp + crypto,
  'AVP and SAVP': avp + savp + crypto,
  'SAVP without keys': savp,
}
type Offer = keyof typeof offers

const decided = (offer: Offer, policy: SrtpPolicy, secured = false): string => {
  try {
    const { audio, crypto: line } = chooseAudio(readSdp(session + offers[offer]), policy, secured)
    return `${audio.index} ${audio.profile}${line ? ' encrypted' : ''}`
  } catch (error) {
    return error instanceof TrunklineError ? error.code : String(error)
  }
}

describe('the answer to an offer with keys', () => {
  it.each([
    ['off', 'AVP', '0 RTP/AVP'],
    ['off', 'SAVP', 'srtp_mismatch'],
    ['off', 'AVP with keys', '0 RTP/AVP'],
    ['off', 'AVP and SAVP', '0 RTP/AVP'],
    ['optional', 'AVP', '0 RTP/AVP'],
    ['optional', 'SAVP', '0 RTP/SAVP encrypted'],
    ['optional', 'AVP with keys', '0 RTP/AVP encrypted'],
    ['optional', 'AVP and SAVP', '1 RTP/SAVP encrypted'],
    ['required', 'AVP', 'srtp_mismatch'],
    ['required', 'SAVP', '0 RTP/SAVP encrypted'],
    ['required', 'AVP with keys', '0 RTP/AVP encrypted'],
    ['required', 'AVP and SAVP', '1 RTP/SAVP encrypted'],
    ['optional', 'SAVP without keys', 'srtp_mismatch'],
  ] as const)('%s, offer %s: %s', (mode, offer, expected) => {
    expect(decided(offer, policy(mode))).toBe(expected)
  })

  it('has no keys over unencrypted signalling', () => {
    const readable = (mode: SrtpPolicy['mode']): SrtpPolicy => ({ ...policy(mode), mayHaveKeys: false })
    expect(decided('SAVP', readable('optional'))).toBe('srtp_mismatch')
    expect(decided('AVP with keys', readable('optional'))).toBe('0 RTP/AVP')
    expect(decided('AVP and SAVP', readable('optional'))).toBe('0 RTP/AVP')
    expect(decided('SAVP', readable('required'))).toBe('srtp_mismatch')
    expect(() => offeredSecurity(readable('required'))).toThrow('SRTP is required')
  })

  it('does not fall back to plain RTP in an encrypted session', () => {
    expect(decided('AVP', policy('optional'), true)).toBe('srtp_mismatch')
    expect(decided('AVP with keys', policy('optional'), true)).toBe('0 RTP/AVP encrypted')
  })
})

describe('the answer to an offer of the gateway', () => {
  const ours = (mode: SrtpPolicy['mode']) => {
    const { profile, isEncrypted } = offeredSecurity(policy(mode))
    const lines = offeredCrypto(srtpSuites, (n) => new Uint8Array(n))
    return { profile, crypto: isEncrypted ? lines : [] }
  }
  const result = (mode: SrtpPolicy['mode'], answer: Offer): string => {
    const [audio] = readSdp(session + offers[answer]).audios
    try {
      return acceptedSecurity(audio, ours(mode), policy(mode), false) ? 'encrypted' : 'plain'
    } catch (error) {
      return error instanceof TrunklineError ? error.code : String(error)
    }
  }

  it.each([
    ['off', 'AVP', 'plain'],
    ['off', 'SAVP', 'srtp_mismatch'],
    ['off', 'AVP with keys', 'plain'],
    ['optional', 'AVP', 'plain'],
    ['optional', 'SAVP', 'srtp_mismatch'],
    ['optional', 'AVP with keys', 'encrypted'],
    ['required', 'AVP', 'srtp_mismatch'],
    ['required', 'SAVP', 'encrypted'],
    ['required', 'AVP with keys', 'srtp_mismatch'],
    ['required', 'SAVP without keys', 'srtp_mismatch'],
  ] as const)('%s, answer %s: %s', (mode, answer, expected) => {
    expect(result(mode, answer)).toBe(expected)
  })

  it('is rejected with a tag or suite that was not offered', () => {
    const answer = `${savp}a=crypto:7 ${strong} inline:${key}\r\n`
    const [audio] = readSdp(session + answer).audios
    expect(() => acceptedSecurity(audio, ours('required'), policy('required'), false)).toThrow(TrunklineError)
  })
})
