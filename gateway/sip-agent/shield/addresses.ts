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
