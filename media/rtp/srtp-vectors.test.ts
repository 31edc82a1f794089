import { createCipheriv, createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SrtpReceiver, SrtpSender, transformOf } from './srtp.ts'
import { deriveKeys } from './srtp-keys.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
/** RFC 3711 appendix B.3. */
const master = hex('e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6')
const plainRtp = `800f1234decafbadcafebabe${'ab'.repeat(16)}`
const plainRtcp = `81c8000bcafebabe${'ab'.repeat(16)}`

describe('published vectors', () => {
  it.each([
    [
      'AES_CM_128_HMAC_SHA1_80',
      master.toString('hex'),
      'c61e7a93744f39ee10734afe3ff7a087',
      '30cbbc08863d8c85d49db34a9ae1',
      'cebe321f6ff7716b6fd4ab49af256a156d38baa4',
    ],
    [
      'AES_256_CM_HMAC_SHA1_80',
      'f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b63b04803de51ee7c96423ab5b78d2',
      '5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4',
      'fa31791685ca444a9e07c6c64e93',
      'fd9c32d39ed5fbb5a9dc96b30818454d1313dc05',
    ],
  ] as const)('derive the keys of RFC 3711 B.3 and RFC 6188 7.2: %s', (suite, from, key, salting, auth) => {
    const keys = deriveKeys(suite, hex(from), 'rtp')
    expect([keys.cipher, keys.salt, keys.auth].map((each) => each.toString('hex'))).toEqual([
      key,
      salting,
      auth,
    ])
  })

  it.each([
    [
      'AES_CM_128_HMAC_SHA1_80',
      '2b7e151628aed2a6abf7158809cf4f3c',
      'e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab41e95b3bb0a2e8dd477901e4fca894c0',
    ],
    [
      'AES_256_CM_HMAC_SHA1_80',
      '57f82fe3613fd170a85ec93c40b1f0922ec4cb0dc025b58272147cc438944a98',
      '92bdd28a93c3f52511c677d08b5515a49da71b2378a854f67050756ded165bac63c4868b7096d88421b563b8c94c9a31',
    ],
  ] as const)('make the key stream of RFC 3711 B.2 and RFC 6188 7.1: %s', (suite, key, stream) => {
    const keys = { cipher: hex(key), salt: hex('f0f1f2f3f4f5f6f7f8f9fafbfcfd'), auth: Buffer.alloc(20) }
    const sealed = transformOf(suite, 'rtp', keys).sealRtp(Buffer.alloc(12 + 48), 12, 0, 0, 0)
    expect(sealed.toString('hex', 12, 60)).toBe(stream)
  })

  it('encrypt and decrypt RTP', () => {
    const cipher = '800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb'
    const suite = 'AES_CM_128_HMAC_SHA1_80'
    expect(new SrtpSender(suite, master).protect(hex(plainRtp)).toString('hex')).toBe(cipher)
    expect(new SrtpReceiver(suite, master).unprotect(hex(cipher))?.toString('hex')).toBe(plainRtp)
  })

  it('encrypt and decrypt RTP with 256 bits', () => {
    const suite = 'AES_256_CM_HMAC_SHA1_80'
    const key = hex(
      'f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b63b04803de51ee7c96423ab5b78d2',
    )
    const cipher = '800f1234decafbadcafebabef1d9de17ff251ff1aa007774b0b4b40da08d9d9a5b3a55d8873b'
    expect(new SrtpSender(suite, key).protect(hex(plainRtp)).toString('hex')).toBe(cipher)
    expect(new SrtpReceiver(suite, key).unprotect(hex(cipher))?.toString('hex')).toBe(plainRtp)
  })

  it('encrypt and decrypt RTCP', () => {
    const cipher = '81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798'
    const suite = 'AES_CM_128_HMAC_SHA1_80'
    expect(new SrtpSender(suite, master).protectRtcp(hex(plainRtcp)).toString('hex')).toBe(cipher)
    expect(new SrtpReceiver(suite, master).unprotectRtcp(hex(cipher))?.toString('hex')).toBe(plainRtcp)
  })

  const gcmKey = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'
  const gcmKeys = (bytes: number) => ({
    cipher: hex(gcmKey).subarray(0, bytes),
    salt: Buffer.from('Quid pro quo'),
    auth: Buffer.alloc(20),
  })

  it.each([
    [
      'AEAD_AES_128_GCM',
      16,
      'f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833899d7f27beb16a9152cf765ee4390cce',
    ],
    [
      'AEAD_AES_256_GCM',
      32,
      '32b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f1ba63799b87b7aa3db36dfffd6b0f9bb7878d7a76c13',
    ],
  ] as const)('encrypt and decrypt RTP as RFC 7714 16.1 and 16.2: %s', (suite, bytes, cipher) => {
    const head = '8040f17b8041f8d35501a0b2'
    const plain = head + Buffer.from('Gallia est omnis divisa in partes tres').toString('hex')
    const transform = transformOf(suite, 'rtp', gcmKeys(bytes))
    expect(transform.sealRtp(hex(plain), 12, 0x5501a0b2, 0, 0xf17b).toString('hex')).toBe(head + cipher)
    const packet = hex(head + cipher)
    expect(transform.openRtp(packet, 12, 0x5501a0b2, 0, 0xf17b)).toBe(true)
    expect(packet.toString('hex').startsWith(plain)).toBe(true)
  })

  it.each([
    [
      'AEAD_AES_128_GCM',
      16,
      '63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade800005d4',
    ],
    [
      'AEAD_AES_256_GCM',
      32,
      'd50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5c1110555be8415f658c61de0476f1b6fad1d1eb30c4446839f57ff6f6cb26ac3be800005d4',
    ],
  ] as const)('encrypt and decrypt RTCP as RFC 7714 17.1 and 17.2: %s', (suite, bytes, cipher) => {
    const head = '81c8000d4d617273'
    const plain = `${head}4e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef`
    const transform = transformOf(suite, 'rtcp', gcmKeys(bytes))
    expect(transform.sealRtcp(hex(plain), 0x4d617273, 0x5d4).toString('hex')).toBe(head + cipher)
    expect(transform.rtcpWord(hex(head + cipher))).toBe(0x800005d4)
    expect(transform.openRtcp(hex(head + cipher), 0x4d617273, 0x5d4)?.toString('hex')).toBe(plain)
  })
})

describe('counter mode with HMAC', () => {
  it('equals AES-CTR and HMAC of node:crypto', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 3000 }),
        fc.nat(0xffffffff),
        fc.nat(0xffff),
        fc.nat(0xffffffff),
        (payload, ssrc, high, low) => {
          const keys = { cipher: randomBytes(16), salt: randomBytes(14), auth: randomBytes(20) }
          const plain = Buffer.concat([Buffer.alloc(12, 0x80), payload])
          const sealed = transformOf('AES_CM_128_HMAC_SHA1_80', 'rtp', keys).sealRtp(
            plain,
            12,
            ssrc,
            high,
            low,
          )
          const iv = Buffer.concat([keys.salt, Buffer.alloc(2)])
          iv.writeUInt32BE((iv.readUInt32BE(4) ^ ssrc) >>> 0, 4)
          iv.writeUInt16BE(iv.readUInt16BE(8) ^ high, 8)
          iv.writeUInt32BE((iv.readUInt32BE(10) ^ low) >>> 0, 10)
          const cipher = Buffer.concat([
            plain.subarray(0, 12),
            createCipheriv('aes-128-ctr', keys.cipher, iv).update(payload),
          ])
          const roc = Buffer.alloc(4)
          roc.writeUInt32BE(high * 0x10000 + (low >>> 16))
          const tag = createHmac('sha1', keys.auth).update(cipher).update(roc).digest().subarray(0, 10)
          expect(sealed).toEqual(Buffer.concat([cipher, tag]))
        },
      ),
    )
  })
})
