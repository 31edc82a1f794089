/** Returns an address without its zone, and an IPv4-mapped one (RFC 4291 2.5.5.2) as IPv4. */
export const plainAddress = (address: string): string => {
  if (!address.includes(':')) return address
  const plain = address.split('%', 1)[0] ?? ''
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain
}
