import { isIP } from 'node:net'

/** An IP address: its 128 bits in four words, IPv4 as IPv4-mapped (RFC 4291 section 2.5.5.2). */
export type AddressWords = readonly [number, number, number, number]

/** First 96 bits of NAT64 addresses (RFC 6052), whose last 32 bits are an IPv4 address. */
const nat64 = [0x0064ff9b, 0, 0] as const

/**
 * Parses an address, with or without brackets. A zone is ignored. Returns undefined for any other text, also
 * for short, octal and hexadecimal forms of IPv4.
 */
export const addressWords = (text: string): AddressWords | undefined => {
  const bare = withoutBrackets(text)
  const version = isIP(bare)
  if (version === 0) return undefined
  if (version === 4) return [0, 0, 0xffff, wordOfIPv4(bare)]
  const address = bare.split('%', 1)[0] ?? ''
  const [head = '', tail] = address.split('::', 2)
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  const groups = [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
  const word = (at: number) => (((groups[at] ?? 0) << 16) | (groups[at + 1] ?? 0)) >>> 0
  return [word(0), word(2), word(4), word(6)]
}

/** Returns whether an address is IPv4, in its own form or mapped into IPv6. */
export const isIPv4Words = ([a, b, c]: AddressWords): boolean => a === 0 && b === 0 && c === 0xffff

/**
 * Returns the same spelling for every form of one address: IPv4, IPv4-mapped IPv6 and NAT64. A text that is
 * not an address is returned unchanged.
 */
export const canonicalAddress = (address: string): string => {
  const words = addressWords(address)
  if (!words) return address
  const [a, b, c, d] = words
  if (isIPv4Words(words) || (a === nat64[0] && b === nat64[1] && c === nat64[2])) return ipv4Text(d)
  return words.flatMap(groupTexts).join(':')
}

/**
 * Returns the unit that counts as one sender: an IPv4 address (in any form), or the /64 of an IPv6 address. A
 * provider assigns a whole /64 to each customer. A text that is not an address is returned unchanged.
 */
export const senderOf = (address: string): string => {
  // A short cut for IPv4, the most frequent case.
  if (!address.includes(':')) return address
  const words = addressWords(address)
  if (!words) return address
  if (isIPv4Words(words)) return ipv4Text(words[3])
  return `${words.slice(0, 2).flatMap(groupTexts).join(':')}::/64`
}

/**
 * Returns an address without its zone; an IPv4-mapped address becomes IPv4. Must be fast: it runs for every
 * packet.
 */
export const plainAddress = (address: string): string => {
  if (!address.includes(':')) return address
  const plain = address.split('%', 1)[0] ?? ''
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain
}

/** Removes the brackets of an IPv6 address. */
export const withoutBrackets = (text: string): string =>
  text.startsWith('[') ? text.replace(/^\[|\]$/g, '') : text

const ipv4Text = (word: number): string =>
  [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255].join('.')

const groupTexts = (word: number): string[] => [(word >>> 16).toString(16), (word & 0xffff).toString(16)]

const wordOfIPv4 = (text: string): number => {
  const [a, b, c, d] = text.split('.')
  return ((Number(a) << 24) | (Number(b) << 16) | (Number(c) << 8) | Number(d)) >>> 0
}

/** Returns the groups of 16 bits in a part of an IPv6 address, which may end with an IPv4 address. */
const groupsOf = (part: string): number[] =>
  part === ''
    ? []
    : part.split(':').flatMap((group) => {
        if (!group.includes('.')) return [Number.parseInt(group, 16)]
        const word = wordOfIPv4(group)
        return [word >>> 16, word & 0xffff]
      })
