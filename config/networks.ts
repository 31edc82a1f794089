import { isIP, isIPv6 } from 'node:net'

/** IP network: all addresses with the first `prefix` bits of `address`. */
export interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/**
 * Reads `192.0.2.0/24`, `2001:db8::/32`, or a single address, which is a network of only that address.
 * Returns undefined for other texts. Also returns undefined for an IPv4-mapped network with a prefix below
 * 96, which would contain all IPv4 addresses.
 */
export const parseNetwork = (text: string): Network | undefined => {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more.length > 0) return undefined
  const longest = version === 4 ? 32 : 128
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return undefined
  const prefix = bits === undefined ? longest : Number(bits)
  if (prefix < 96 && version === 6 && isMapped(address)) return undefined
  return prefix > longest ? undefined : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}

const isMapped = (address: string): boolean => /^::ffff:[\da-f]+:[\da-f]+$/.test(canonicalHost(address))

/** Returns whether an IP address is a loopback address. */
export const isLoopback = (address: string): boolean =>
  isIP(address) === 4 ? address.startsWith('127.') : address === '::1'

/**
 * Returns a host in its canonical form, for comparisons: in lower case, without brackets and final dot. An
 * IPv6 address has the form of RFC 5952.
 */
export const canonicalHost = (host: string): string => {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, '')
  if (isIPv6(plain) && !plain.includes('%')) return new URL(`http://[${plain}]`).hostname.slice(1, -1)
  return plain.endsWith('.') ? plain.slice(0, -1) : plain
}
