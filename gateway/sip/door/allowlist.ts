import { BlockList, isIP } from 'node:net'
import type { DomainApp } from '../../directory/types.ts'

/** Whether a source address may send to a domain application. Each list is built once, as long as it is the same one. */
export class Allowlists {
  #built = new WeakMap<readonly string[], BlockList>()

  /** Without a list anyone may send. Text that is no address is refused. */
  allows({ allow }: Pick<DomainApp, 'allow'>, source: string): boolean {
    return allow === undefined || listHas(this.#listOf(allow), source)
  }

  #listOf(networks: readonly string[]): BlockList {
    const known = this.#built.get(networks)
    if (known) return known
    const list = buildAllowlist(networks)
    this.#built.set(networks, list)
    return list
  }
}

/** Whether an address, in whatever spelling, is in a list. Text that is no address is in none. */
export const listHas = (list: BlockList, source: string): boolean => {
  const address = plainAddress(source)
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Builds the list. Throws an Error that names an entry which is neither an address nor a CIDR. */
export const buildAllowlist = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [text = '', prefixText, ...more] = network.trim().split('/')
    const mapped = isIP(text) === 6 && isIP(plainAddress(text)) === 4
    const address = plainAddress(text)
    const family = isIP(address)
    const longest = family === 4 ? 32 : 128
    const given =
      prefixText === undefined ? undefined : /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : Number.NaN
    // The prefix of an IPv4-mapped network counts the 96 bits in front of the IPv4 address.
    const prefix = given === undefined ? longest : mapped ? given - 96 : given
    if (family === 0 || more.length > 0 || !(prefix >= 0 && prefix <= longest))
      throw new Error(`allow: an IP address or a CIDR expected, found ${JSON.stringify(network)}`)
    list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/** An address without its zone, and an IPv4-mapped one (RFC 4291 section 2.5.5.2) as IPv4. */
const plainAddress = (text: string): string => {
  const address = text.replace(/^\[|\]$/g, '').split('%')[0] ?? ''
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`
}
