import { BlockList, isIP } from 'node:net'

const networks: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['::1', 128, 'ipv6'],
]

const list = new BlockList()
for (const [address, prefix, family] of networks) list.addSubnet(address, prefix, family)

/**
 * Whether an IP literal is one that means something only near its owner (RFC 1918, 6598, 3927, 4193, 4291,
 * 8215).
 */
export const isPrivate = (address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
