import { masterBytes, suiteInfo } from '../../../media/rtp/srtp-suites.ts'
import type { SrtpSuite } from '../../../media/types.ts'

/** One `a=crypto` line. Must never be logged: `key` is the key of one direction. */
export interface CryptoLine {
  /** Tag, 1 to 9 decimal digits. The answer repeats the tag of the line that it accepts. */
  readonly tag: number
  readonly suite: SrtpSuite
  /** Master key and salt, with the lengths of the suite. */
  readonly key: Uint8Array
}

const isSuite = (name: string): name is SrtpSuite => Object.hasOwn(suiteInfo, name)

/**
 * Session parameters (RFC 4568 section 6.3) that require unsupported features; a line with one of them is
 * ignored.
 */
const demanding =
  /^(?:KDR=\d{1,2}|UNENCRYPTED_SRTP|UNENCRYPTED_SRTCP|UNAUTHENTICATED_SRTP|FEC_ORDER=\S+|FEC_KEY=\S+)$/
/** Session parameters that may be ignored: the window size hint, and extensions marked as optional. */
const harmless = /^(?:WSH=\d{2,5}|-\S+)$/

/**
 * Reads the value of `a=crypto:` (RFC 4568 section 9.1). Returns undefined for a line that can be ignored: an
 * unknown suite, several keys, a key identifier (MKI), unsupported session parameters. Returns `malformed`
 * for other text. The text is a secret and never appears in the result.
 */
export const readCrypto = (value: string): CryptoLine | 'malformed' | undefined => {
  const [, tag = '', suite = '', methods = '', rest = ''] =
    /^(\d{1,9}) ([A-Za-z0-9_]{1,64}) (\S+)((?: \S+)*) *$/.exec(value) ?? []
  if (tag === '') return 'malformed'
  if (!isSuite(suite)) return undefined
  const params = rest.split(' ').filter((each) => each !== '')
  if (params.some((each) => !demanding.test(each) && !harmless.test(each))) return 'malformed'
  if (methods.includes(';')) return undefined
  const key = readKey(methods, masterBytes(suite))
  if (key === undefined || key === 'malformed') return key
  return params.some((each) => demanding.test(each)) ? undefined : { tag: Number(tag), suite, key }
}

/** Reads `inline:<key and salt>[|lifetime][|MKI:length]`. */
const readKey = (method: string, keyBytes: number): Uint8Array | 'malformed' | undefined => {
  const [, text = '', lifetime = '', mki = ''] =
    /^inline:([A-Za-z0-9+/]+=*)(\|(?:2\^\d{1,2}|\d{1,15}))?(\|\d{1,9}:\d{1,3})?$/i.exec(method) ?? []
  if (text === '') return 'malformed'
  const exponent = /\^(\d+)/.exec(lifetime)?.[1]
  // At most 2^48 packets (RFC 3711 section 9.2).
  if (exponent !== undefined && Number(exponent) > 48) return 'malformed'
  const key = Buffer.from(text, 'base64')
  // Some peers omit the padding.
  const unpadded = text.split('=', 1)[0] ?? ''
  if (key.length !== keyBytes || unpadded.length !== Math.ceil((keyBytes * 4) / 3)) return 'malformed'
  return mki === '' ? new Uint8Array(key) : undefined
}

/** Returns the value of an `a=crypto` line. */
export const writeCrypto = ({ tag, suite, key }: CryptoLine): string =>
  `${tag} ${suite} inline:${Buffer.from(key).toString('base64')}`

/** Makes a line with a fresh key for each of these suites, in their order. */
export const offeredCrypto = (
  suites: readonly SrtpSuite[],
  random: (bytes: number) => Uint8Array,
): readonly CryptoLine[] =>
  suites.map((suite, at) => ({ tag: at + 1, suite, key: new Uint8Array(random(masterBytes(suite))) }))

/** Makes the line that answers a line of the far side, with a fresh key. */
export const answeredCrypto = (
  { tag, suite }: CryptoLine,
  random: (bytes: number) => Uint8Array,
): CryptoLine => ({ tag, suite, key: new Uint8Array(random(masterBytes(suite))) })
