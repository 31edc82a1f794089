import { isIP } from 'node:net'
import { addressWords, canonicalAddress } from './address.ts'
import { Networks, PrefixMap, requirePrefix } from './networks.ts'

/**
 * Scope of a special-purpose network. `loopback`: this machine. `link-local`: one link. `private`: a site or
 * a provider. `reserved`: documentation, benchmarks, protocol assignments and transition. `unusable`:
 * addresses that no single host can have, such as multicast.
 */
type Scope = 'loopback' | 'link-local' | 'private' | 'reserved' | 'unusable'

/**
 * Networks outside the public internet (RFC 6890 and its successors); the only list of them in this
 * repository.
 */
const specialNetworks: readonly (readonly [network: string, scope: Scope])[] = [
  ['0.0.0.0/8', 'unusable'],
  ['10.0.0.0/8', 'private'],
  // Carrier-grade NAT (RFC 6598).
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'loopback'],
  // Includes the metadata services of cloud providers.
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.31.196.0/24', 'reserved'],
  ['192.52.193.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'reserved'],
  ['198.18.0.0/15', 'reserved'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/3', 'unusable'],
  ['::1/128', 'loopback'],
  // The unspecified address, and IPv4-compatible addresses, which are obsolete (RFC 4291 2.5.5.1).
  ['::/96', 'unusable'],
  // NAT64 of a site (RFC 8215).
  ['64:ff9b:1::/48', 'private'],
  // Protocol assignments with Teredo, documentation, 6to4, and documentation again (RFC 9637).
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'reserved'],
  ['2002::/16', 'reserved'],
  ['3fff::/20', 'reserved'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'unusable'],
]

const scopes = new PrefixMap<Scope>()
for (const [network, scope] of specialNetworks) scopes.set(requirePrefix(network), scope)

/** The only IPv6 network allocated for the public internet. */
const globalIPv6 = new Networks(['2000::/3'])

/** Returns the scope of an address; undefined if it is not special, or the text is not an address. */
const scopeOf = (address: string): Scope | undefined => {
  const found = scopes.matching(address)
  // `::1` is also in `::/96`; all other networks of the list are disjoint.
  return found.includes('loopback') ? 'loopback' : found[0]
}

/** Returns whether only this machine can reach an address. */
export const isLoopback = (address: string): boolean => scopeOf(address) === 'loopback'

/** Returns whether an address is valid on one link only (RFC 3927, RFC 4291). */
export const isLinkLocal = (address: string): boolean => scopeOf(address) === 'link-local'

/**
 * Returns whether an address is valid only within a limited area: this machine, a link, a site or a
 * provider's network. The networks are those of RFC 1918, 6598, 3927, 4193, 4291 and 8215.
 */
export const isPrivate = (address: string): boolean => {
  const scope = scopeOf(address)
  return scope === 'private' || scope === 'loopback' || scope === 'link-local'
}

/**
 * Returns whether no single host can have an address: unspecified, multicast, reserved or IPv4-compatible.
 */
export const isUnusable = (address: string): boolean => scopeOf(address) === 'unusable'

/**
 * Returns whether an address is one of the public internet. An IPv4 address within IPv6 (IPv4-mapped or
 * NAT64) counts as IPv4. An address with a zone is never public.
 */
export const isPublic = (address: string): boolean => {
  if (address.includes('%') || !addressWords(address)) return false
  const plain = canonicalAddress(address)
  if (scopeOf(plain) !== undefined) return false
  return isIP(plain) === 4 || globalIPv6.has(plain)
}
