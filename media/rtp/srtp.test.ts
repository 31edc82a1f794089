import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SrtpSuite } from '../types.ts'
import { writeRtpHeader } from './packet.ts'
import { SrtpReceiver, SrtpSender, transformOf } from './srtp.ts'
import { deriveKeys } from './srtp-keys.ts'
import { masterBytes, suiteInfo } from './srtp-suites.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
const plainRtcp = `81c8000bcafebabe${'ab'.repeat(16)}`

const packet = (sequence: number, payload = 'hello', ssrc = 7) => {
  const bytes = Buffer.alloc(12 + payload.length)
  writeRtpHeader(bytes, 0, { payloadType: 0, marker: false, sequence: sequence & 0xffff, timestamp: 0, ssrc })
  bytes.write(payload, 12)
  return bytes
}

const payloadOf = (bytes: Buffer | undefined) => bytes?.toString('latin1', 12)

const suites = Object.keys(suiteInfo) as SrtpSuite[]
const pair = (suite: SrtpSuite = 'AES_CM_128_HMAC_SHA1_80') => {
  const key = randomBytes(masterBytes(suite))
  return { sender: new SrtpSender(suite, key), receiver: new SrtpReceiver(suite, key) }
}

describe('every suite', () => {
  it.each([
    ['AES_CM_128_HMAC_SHA1_80', 30, 10, 14],
    ['AES_CM_128_HMAC_SHA1_32', 30, 4, 14],
    ['AES_256_CM_HMAC_SHA1_80', 46, 10, 14],
    ['AES_256_CM_HMAC_SHA1_32', 46, 4, 14],
    ['AEAD_AES_128_GCM', 28, 16, 20],
    ['AEAD_AES_256_GCM', 44, 16, 20],
  ] as const)(
    '%s has a key of %d bytes, and adds %d bytes to RTP and %d to RTCP',
    (suite, key, tag, more) => {
      expect(masterBytes(suite)).toBe(key)
      expect(() => new SrtpSender(suite, Buffer.alloc(key - 1))).toThrow(`${key} bytes expected`)
      const { sender, receiver } = pair(suite)
      const sent = sender.protect(packet(1))
      expect(sent.length).toBe(12 + 5 + tag)
      expect(payloadOf(receiver.unprotect(sent))).toBe('hello')
      const report = sender.protectRtcp(hex(plainRtcp))
      expect(report.length).toBe(plainRtcp.length / 2 + more)
      expect(receiver.unprotectRtcp(report)?.toString('hex')).toBe(plainRtcp)
    },
  )

  it.each(suites)(
    '%s passes packets of any lengths, with loss and in disorder, and no forged one',
    (suite) => {
      const one = fc.record({ bytes: fc.integer({ min: 0, max: 1400 }), lost: fc.boolean(), flip: fc.nat() })
      fc.assert(
        fc.property(fc.array(one, { maxLength: 40 }), fc.nat(0xffff), fc.nat(10), (all, first, swap) => {
          const { sender, receiver } = pair(suite)
          const texts = all.map(({ bytes }, i) => String.fromCharCode(65 + i).repeat(bytes))
          const sent = texts.map((text, i) => sender.protect(packet(first + i, text)))
          const order = texts.map((_, i) => i)
          if (swap + 3 < order.length) order.splice(swap, 4, swap + 3, swap + 1, swap + 2, swap)
          for (const i of order) {
            const { lost, flip } = all[i]!
            if (lost) continue
            const bytes = sent[i]!
            const forged = Buffer.from(bytes)
            const at = flip % forged.length
            forged[at] = forged[at]! ^ (1 << (flip % 8))
            const before = Buffer.from(forged)
            expect(receiver.unprotect(forged)).toBeUndefined()
            expect(forged).toEqual(before)
            expect(payloadOf(receiver.unprotect(bytes))).toBe(texts[i])
          }
        }),
        { numRuns: 30 },
      )
    },
  )

  it.each(suites)('%s rejects forged and replayed RTCP', (suite) => {
    const { sender, receiver } = pair(suite)
    const report = sender.protectRtcp(hex(plainRtcp))
    for (let at = 0; at < report.length; at++) {
      const forged = Buffer.from(report)
      forged[at] = forged[at]! ^ 1
      expect(receiver.unprotectRtcp(forged)).toBeUndefined()
    }
    expect(receiver.unprotectRtcp(Buffer.from(report))).toBeDefined()
    expect(receiver.unprotectRtcp(report)).toBeUndefined()
  })
})

describe('the sender', () => {
  it.each(suites)('%s never uses an index twice', (suite) => {
    const { sender } = pair(suite)
    const first = sender.protect(packet(10))
    for (const sequence of [11, 13, 12]) expect(sender.protect(packet(sequence)).length).toBe(first.length)
    for (const sequence of [10, 11, 12, 13]) expect(sender.protect(packet(sequence, 'other'))).toHaveLength(0)
    expect(sender.protect(packet(14)).length).toBe(first.length)
  })

  it('sends nothing that is older than its window', () => {
    const { sender } = pair()
    for (const sequence of [10, 200]) expect(sender.protect(packet(sequence)).length).toBeGreaterThan(0)
    expect(sender.protect(packet(11))).toHaveLength(0)
  })
})

describe('the receiver', () => {
  it('rejects packets with any change, and still accepts the original', () => {
    const { sender, receiver } = pair()
    const sent = sender.protect(packet(1))
    for (let at = 0; at < sent.length; at++) {
      const forged = Buffer.from(sent)
      forged[at] = forged[at]! ^ 1
      expect(receiver.unprotect(forged)).toBeUndefined()
    }
    expect(payloadOf(receiver.unprotect(sent))).toBe('hello')
  })

  it('rejects replayed packets, and those older than the window', () => {
    const { sender, receiver } = pair()
    const sent = Array.from({ length: 300 }, (_, i) => sender.protect(packet(1000 + i)))
    const first = Buffer.from(sent[0]!)
    const late = Buffer.from(sent[250]!)
    for (const [i, each] of sent.entries()) if (i !== 250) expect(receiver.unprotect(each)).toBeDefined()
    expect(receiver.unprotect(first)).toBeUndefined()
    expect(receiver.unprotect(Buffer.from(late))).toBeDefined()
    expect(receiver.unprotect(late)).toBeUndefined()
  })

  it('rejects short packets, and unencrypted RTCP', () => {
    const { receiver } = pair()
    for (let length = 0; length < 40; length++) {
      expect(receiver.unprotect(Buffer.alloc(length, 0x80))).toBeUndefined()
      expect(receiver.unprotectRtcp(Buffer.alloc(length, 0x80))).toBeUndefined()
    }
  })

  it('follows the sequence over its end, with loss and reordering around it', () => {
    const { sender, receiver } = pair()
    const sent = Array.from({ length: 40 }, (_, i) => sender.protect(packet(65_520 + i, `p${i}`)))
    sent.splice(15, 3, sent[17]!, sent[16]!, sent[15]!)
    for (const each of sent.filter((_, i) => i % 5 !== 4)) expect(receiver.unprotect(each)).toBeDefined()
  })

  it('follows it through minutes without packets', () => {
    const { sender, receiver } = pair()
    // Of 80,000 packets, those in between are lost.
    for (let i = 0; i <= 80_000; i += 20_000)
      expect(payloadOf(receiver.unprotect(sender.protect(packet(i))))).toBe('hello')
  })

  it('follows it over a silence of up to an hour in which the far side kept counting', () => {
    for (const minutes of [1, 12, 25, 45, 60]) {
      const { sender, receiver } = pair()
      receiver.unprotect(sender.protect(packet(40_000)))
      // The packets in between are lost.
      const later = 40_000 + minutes * 3000
      for (let i = 40_000; i < later; i += 1000) sender.protect(packet(i))
      expect(payloadOf(receiver.unprotect(sender.protect(packet(later))))).toBe('hello')
      expect(payloadOf(receiver.unprotect(sender.protect(packet(later + 1))))).toBe('hello')
    }
  })

  it('joins a stream whose packets before the roll-over were lost', () => {
    const { sender, receiver } = pair()
    for (let i = 65_530; i < 65_540; i++) sender.protect(packet(i))
    expect(payloadOf(receiver.unprotect(sender.protect(packet(65_540))))).toBe('hello')
  })

  it('accepts packets that the sender reorders over the roll-over', () => {
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

describe('a new key of the far side', () => {
  const suite = 'AES_CM_128_HMAC_SHA1_80'
  const old = randomBytes(30)
  const fresh = randomBytes(30)
  /** Packets of a far side that keeps its roll-over counter (RFC 3711 section 3.3.1). */
  const goingOn = (i: number) =>
    transformOf(suite, 'rtp', deriveKeys(suite, fresh, 'rtp')).sealRtp(packet(i), 12, 7, 0, i)

  it('is accepted with a continued roll-over counter', () => {
    const sender = new SrtpSender(suite, old)
    const receiver = new SrtpReceiver(suite, old)
    for (const i of [65_535, 65_536, 65_537]) receiver.unprotect(sender.protect(packet(i)))
    const receives = new SrtpReceiver(suite, fresh, receiver)
    expect(payloadOf(receives.unprotect(goingOn(65_538)))).toBe('hello')
  })

  it('is accepted with it also if nothing arrived under the previous key', () => {
    const sender = new SrtpSender(suite, old)
    let receiver = new SrtpReceiver(suite, old)
    for (let i = 0; i < 200_000; i += 20_000) receiver.unprotect(sender.protect(packet(i)))
    for (let i = 0; i < 2; i++) receiver = new SrtpReceiver(suite, randomBytes(30), receiver)
    receiver = new SrtpReceiver(suite, fresh, receiver)
    expect(payloadOf(receiver.unprotect(goingOn(200_000)))).toBe('hello')
  })

  it('is accepted with a reset counter, too', () => {
    const sender = new SrtpSender(suite, old)
    const receiver = new SrtpReceiver(suite, old)
    for (const i of [65_535, 65_536, 65_537]) receiver.unprotect(sender.protect(packet(i)))
    const receives = new SrtpReceiver(suite, fresh, receiver)
    expect(payloadOf(receives.unprotect(new SrtpSender(suite, fresh).protect(packet(65_538))))).toBe('hello')
  })
})
