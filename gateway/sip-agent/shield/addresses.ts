import { BlockList, isIP } from 'node:net'

/** An address without its zone, and an IPv4-mapped one (RFC 4291 2.5.5.2) as IPv4. */
export const plainAddress = (address: string): string => {
  if (!address.includes(':')) return address
  const plain = address.split('%', 1)[0] ?? ''
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain
}

/** What counts as one sender: an IPv4 address, or the /64 of an IPv6 address, all of which is one customer's. */
export const senderOf = (address: string): string => {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** A set of networks. Throws for a text that is no CIDR and no address. */
export class Networks {
  readonly #list = new BlockList()

  constructor(networks: readonly string[]) {
    for (const network of networks) this.#add(network)
  }

  /** Whether a plain address is in one of them. */
  has(address: string): boolean {
    const version = isIP(address)
    return version !== 0 && this.#list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }

  #add(network: string): void {
    const [written = '', bits] = network.split('/')
    const address = plainAddress(written)
    const version = isIP(address)
    const longest = version === 4 ? 32 : 128
    // The prefix of an IPv4-mapped network counts the 96 bits in front of the IPv4 address.
    const mapped = version === 4 && written.includes(':')
    const prefix = bits === undefined ? longest : Number(bits) - (mapped ? 96 : 0)
    if (version === 0 || !(prefix >= 0 && prefix <= longest)) throw new Error(`no network: ${network}`)
    this.#list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6')
  }
}
