import { isIP } from 'node:net'
import { canonicalAddress } from './address.ts'
import { Networks } from './networks.ts'
import { isPublic } from './special-purpose.ts'

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
    // A zone, as in fe80::1%eth0, names an interface: never permitted.
    if (isIP(address) === 0 || address.includes('%')) return false
    return this.#allowed.has(canonicalAddress(address)) || isPublic(address)
  }
}
