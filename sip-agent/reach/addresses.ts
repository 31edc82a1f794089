import { wordsOf } from '../networks.ts'

/** First 96 bits of NAT64 addresses (RFC 6052), whose last 32 bits are an IPv4 address. */
const nat64 = [0x0064ff9b, 0, 0] as const

/**
 * Returns one spelling for all addresses of the same host: IPv4, IPv4-mapped IPv6 and NAT64. A text that is
 * not an address is returned unchanged.
 */
export const canonicalAddress = (address: string): string => {
  const words = wordsOf(address)
  if (!words) return address
  const [a, b, c, d] = words
  const isMapped = a === 0 && b === 0 && c === 0xffff
  const isTranslated = a === nat64[0] && b === nat64[1] && c === nat64[2]
  if (isMapped || isTranslated) return [d >>> 24, (d >>> 16) & 255, (d >>> 8) & 255, d & 255].join('.')
  return words.flatMap((word) => [word >>> 16, word & 0xffff].map((group) => group.toString(16))).join(':')
}
