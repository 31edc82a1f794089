import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { writeRtpHeader } from './packet.ts'
import { SrtpReceiver, SrtpSender } from './srtp.ts'
import { deriveKeys } from './srtp-keys.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
/** RFC 3711 appendix B.3. */
const master = hex('e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6')
const plainRtp = `800f1234decafbadcafebabe${'ab'.repeat(16)}`
const plainRtcp = `81c8000bcafebabe${'ab'.repeat(16)}`

const packet = (sequence: number, payload = 'hello', ssrc = 7) => {
  const bytes = Buffer.alloc(12 + payload.length)
  writeRtpHeader(bytes, 0, { payloadType: 0, marker: false, sequence: sequence & 0xffff, timestamp: 0, ssrc })
  bytes.write(payload, 12)
  return bytes
}

const payloadOf = (bytes: Buffer | undefined) => bytes?.toString('latin1', 12)

const pair = (suite: 'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32' = 'AES_CM_128_HMAC_SHA1_80') => {
  const key = randomBytes(30)
  return { sender: new SrtpSender(suite, key), receiver: new SrtpReceiver(suite, key) }
}

describe('published vectors', () => {
  it('derive the keys of RFC 3711 B.3', () => {
    const { cipher, auth, salt } = deriveKeys(master, 'rtp')
    expect(cipher.toString('hex')).toBe('c61e7a93744f39ee10734afe3ff7a087')
    expect(salt.toString('hex')).toBe('30cbbc08863d8c85d49db34a9ae1')
    expect(auth.toString('hex')).toBe('cebe321f6ff7716b6fd4ab49af256a156d38baa4')
  })

  it('encrypt and decrypt RTP', () => {
    const cipher = '800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb'
    expect(new SrtpSender('AES_CM_128_HMAC_SHA1_80', master).protect(hex(plainRtp)).toString('hex')).toBe(
      cipher,
    )
    expect(new SrtpReceiver('AES_CM_128_HMAC_SHA1_80', master).unprotect(hex(cipher))?.toString('hex')).toBe(
      plainRtp,
    )
  })

  it('encrypt and decrypt RTCP', () => {
    const cipher = '81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798'
    expect(
      new SrtpSender('AES_CM_128_HMAC_SHA1_80', master).protectRtcp(hex(plainRtcp)).toString('hex'),
    ).toBe(cipher)
    expect(
      new SrtpReceiver('AES_CM_128_HMAC_SHA1_80', master).unprotectRtcp(hex(cipher))?.toString('hex'),
    ).toBe(plainRtcp)
  })
})

describe('both suites', () => {
  it.each([
    ['AES_CM_128_HMAC_SHA1_80', 10],
    ['AES_CM_128_HMAC_SHA1_32', 4],
  ] as const)('%s adds %d bytes to RTP, and 14 to RTCP', (suite, tag) => {
    const { sender, receiver } = pair(suite)
    const sent = sender.protect(packet(1))
    expect(sent.length).toBe(12 + 5 + tag)
    expect(payloadOf(receiver.unprotect(sent))).toBe('hello')
    const report = sender.protectRtcp(hex(plainRtcp))
    expect(report.length).toBe(plainRtcp.length / 2 + 14)
    expect(receiver.unprotectRtcp(report)?.toString('hex')).toBe(plainRtcp)
  })
})

describe('the receiver', () => {
  it('refuses what was changed anywhere, and goes on with the true packet', () => {
    const { sender, receiver } = pair()
    const sent = sender.protect(packet(1))
    for (let at = 0; at < sent.length; at++) {
      const forged = Buffer.from(sent)
      forged[at] = forged[at]! ^ 1
      expect(receiver.unprotect(forged)).toBeUndefined()
    }
    expect(payloadOf(receiver.unprotect(sent))).toBe('hello')
  })

  it('refuses a packet that was taken already, and one that is too old', () => {
    const { sender, receiver } = pair()
    const sent = Array.from({ length: 300 }, (_, i) => sender.protect(packet(1000 + i)))
    const first = Buffer.from(sent[0]!)
    const late = Buffer.from(sent[250]!)
    for (const [i, each] of sent.entries()) if (i !== 250) expect(receiver.unprotect(each)).toBeDefined()
    expect(receiver.unprotect(first)).toBeUndefined()
    expect(receiver.unprotect(Buffer.from(late))).toBeDefined()
    expect(receiver.unprotect(late)).toBeUndefined()
  })

  it('refuses short ones, and RTCP that is not encrypted', () => {
    const { receiver } = pair()
    for (let length = 0; length < 40; length++) {
      expect(receiver.unprotect(Buffer.alloc(length, 0x80))).toBeUndefined()
      expect(receiver.unprotectRtcp(Buffer.alloc(length, 0x80))).toBeUndefined()
    }
  })

  it('follows the sequence over its end, with packets lost and swapped around it', () => {
    const { sender, receiver } = pair()
    const sent = Array.from({ length: 40 }, (_, i) => sender.protect(packet(65_520 + i, `p${i}`)))
    ;[sent[15], sent[17]] = [sent[17]!, sent[15]!]
    for (const each of sent.filter((_, i) => i % 5 !== 4)) expect(receiver.unprotect(each)).toBeDefined()
  })

  it('follows it through minutes in which nothing arrived', () => {
    const { sender, receiver } = pair()
    // Of 80,000 packets, those in between are lost.
    for (let i = 0; i <= 80_000; i += 20_000)
      expect(payloadOf(receiver.unprotect(sender.protect(packet(i))))).toBe('hello')
  })

  it('is understood when the sender forwards in disorder over the roll-over', () => {
    const { sender, receiver } = pair()
    for (const i of [65_533, 65_534, 65_536, 65_535, 65_538, 65_537])
      expect(payloadOf(receiver.unprotect(sender.protect(packet(i, `p${i}`))))).toBe(`p${i}`)
  })

  it('keeps sources apart', () => {
    const { sender, receiver } = pair()
    const other = pair()
    expect(receiver.unprotect(sender.protect(packet(1)))).toBeDefined()
    expect(receiver.unprotect(other.sender.protect(packet(1, 'x', 8)))).toBeUndefined()
  })
})

describe('a new key', () => {
  const suite = 'AES_CM_128_HMAC_SHA1_80'
  const old = randomBytes(30)
  const fresh = randomBytes(30)

  it('goes on with the roll-over counter', () => {
    const sender = new SrtpSender(suite, old)
    const receiver = new SrtpReceiver(suite, old)
    for (const i of [65_535, 65_536, 65_537]) receiver.unprotect(sender.protect(packet(i)))
    const next = new SrtpSender(suite, fresh, sender)
    const receives = new SrtpReceiver(suite, fresh, receiver)
    expect(payloadOf(receives.unprotect(next.protect(packet(65_538))))).toBe('hello')
  })

  it('is understood from a far side that starts anew, too', () => {
    const sender = new SrtpSender(suite, old)
    const receiver = new SrtpReceiver(suite, old)
    for (const i of [65_535, 65_536, 65_537]) receiver.unprotect(sender.protect(packet(i)))
    const receives = new SrtpReceiver(suite, fresh, receiver)
    expect(payloadOf(receives.unprotect(new SrtpSender(suite, fresh).protect(packet(65_538))))).toBe('hello')
  })
})
