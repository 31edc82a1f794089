/** IP addresses, networks, and special-purpose addresses. */
export { addressWords, canonicalAddress, senderOf } from './address.ts'
export { ipv4PrefixBits, Networks, type Prefix, PrefixMap, parsePrefix, requirePrefix } from './networks.ts'
export { isLinkLocal, isLoopback, isPrivate, isPublic, isUnusable } from './special-purpose.ts'
