import { BlockList, isIP } from 'node:net'
import { canonicalAddress } from '@trunkline/sip-agent'
import { isPrivate } from '../../core/private-networks.ts'

/** Verdict on the media address of a description, by the source of its signalling. */
export type AddressVerdict =
  /** Audio is sent there, and accepted from there only. */
  | 'take'
  /** A private address of a peer behind NAT: audio may be learnt from the source of the signalling. */
  | 'learn'
  /** Audio to this address would reach the gateway, its network, or many hosts. */
  | 'refuse'

const networks = (...all: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[]): BlockList => {
  const list = new BlockList()
  for (const [address, prefix, family] of all) list.addSubnet(address, prefix, family)
  return list
}

const loopback = networks(['127.0.0.0', 8, 'ipv4'], ['::1', 128, 'ipv6'])
const linkLocal = networks(['169.254.0.0', 16, 'ipv4'], ['fe80::', 10, 'ipv6'])
const unusable = networks(
  ['0.0.0.0', 8, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
)
/**
 * IPv6 addresses with an IPv4 address in them that is not reached so any more (RFC 4291 2.5.5.1); `::` and
 * `::1` are in here.
 */
const compatible = networks(['::', 96, 'ipv6'])

const isIn = (list: BlockList, address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Decides whether a media address of a description is believed; the only place that does. `source`: address
 * that the description came from; undefined if the agent did not report it. Both are IP literals; other text
 * is refused.
 */
export const judgeAddress = (written: string, source: string | undefined): AddressVerdict => {
  // An IPv4 address within IPv6, mapped or of NAT64, is judged as that address.
  const address = isIP(written) === 6 && !written.includes('%') ? canonicalAddress(written) : written
  if (isIP(address) === 0 || isIn(unusable, address)) return 'refuse'
  if (isIn(compatible, address) && !isIn(loopback, address)) return 'refuse'
  if (source === undefined || source === written) return 'take'
  if (isIn(loopback, address)) return isIn(loopback, source) ? 'take' : 'refuse'
  if (isIn(linkLocal, address)) return isPrivate(source) ? 'take' : 'refuse'
  return isPrivate(address) && !isPrivate(source) ? 'learn' : 'take'
}
