import { isIP } from 'node:net'
import { Networks } from './networks.ts'

/**
 * IPv4 networks outside the public internet: RFC 6890 and its successors, multicast and reserved addresses.
 */
const closed4 = new Networks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carriers' NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local; clouds keep their metadata here
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

/** The only IPv6 network allocated for the public internet. */
const global6 = new Networks(['2000::/3'])

/**
 * Special-purpose networks within {@link global6}: protocol assignments with Teredo, documentation (also RFC
 * 9637) and 6to4.
 */
const closed6 = new Networks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/**
 * Prefixes whose addresses carry an IPv4 address in their last four bytes: IPv4-mapped, and NAT64 (RFC 6052).
 */
const carrying4 = new Networks(['::ffff:0:0/96', '64:ff9b::/96'])

/** Rules on which addresses the URLs of customers may reach. */
export class AddressGuard {
  #allowed: Networks

  /** `allowedNetworks` (CIDR) are permitted although they are not public. */
  constructor(allowedNetworks: readonly string[]) {
    this.#allowed = new Networks(allowedNetworks)
  }

  /**
   * Replaces the networks that are permitted besides public addresses. Throws for a text that is not a
   * network.
   */
  change(allowedNetworks: readonly string[]): void {
    this.#allowed = new Networks(allowedNetworks)
  }

  /**
   * Returns whether an address is public or in an allowed network. An IPv4 address within an IPv6 address
   * counts as IPv4.
   */
  permits(address: string): boolean {
    const version = isIP(address)
    // A zone, as in fe80::1%eth0, names an interface: never public.
    if (version === 0 || address.includes('%')) return false
    if (version === 4) return this.#allowed.has(address) || !closed4.has(address)
    if (carrying4.has(address)) return this.permits(carried4(address))
    return this.#allowed.has(address) || (global6.has(address) && !closed6.has(address))
  }
}

/** Returns the last four bytes of an IPv6 address as an IPv4 address. */
const carried4 = (address: string): string => {
  // The URL parser writes every spelling in the same short form, the last 32 bits as up to two groups.
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const groups = text.slice(text.lastIndexOf('::') + 2).split(':')
  const [high = '0', low = '0'] = groups.length > 1 ? groups.slice(-2) : ['0', groups[0] || '0']
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')
}
