import { isIP } from 'node:net'

/** An IP address: its 128 bits in four words, IPv4 as IPv4-mapped (RFC 4291 section 2.5.5.2). */
export type Words = readonly [number, number, number, number]

/** A network: the addresses whose first `bits` bits of 128 are those of `words`; `key` is the same for every spelling of it. */
export interface Prefix {
  readonly bits: number
  readonly key: string | number
}

/** The address of a text, with brackets or without; undefined where it is none. A zone says nothing of where an address is. */
export const wordsOf = (text: string): Words | undefined => {
  const bare = withoutBrackets(text)
  const version = isIP(bare)
  if (version === 0) return undefined
  if (version === 4) return [0, 0, 0xffff, word4(bare)]
  const [address = ''] = bare.split('%', 1)
  const [head = '', tail] = address.split('::', 2)
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  const zeros = Array<number>(8 - first.length - last.length).fill(0)
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = [...first, ...zeros, ...last]
  return [join(a, b), join(c, d), join(e, f), join(g, h)]
}

/**
 * What counts as one sender: an IPv4 address, also inside an IPv6 one, or the /64 of an IPv6 address, for whoever has one such address has all
 * of its network. A text that is no address stands for itself.
 */
export const senderOf = (address: string): string => {
  // Nearly all of them, and some for every packet of a new source.
  if (!address.includes(':')) return address
  const words = wordsOf(address)
  if (!words) return address
  const [a, b, , d] = words
  if (isMapped(words)) return [d >>> 24, (d >>> 16) & 255, (d >>> 8) & 255, d & 255].join('.')
  const groups = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff]
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`
}

/**
 * The network of an address or a CIDR; undefined where the text is neither. The prefix of an IPv4-mapped network counts the 96 bits in front of
 * the IPv4 address: none is shorter. It takes all that `parseNetwork` of the configuration lets through, for one list that cannot be read holds up all the others.
 */
export const prefixOf = (text: string): Prefix | undefined => {
  const [written = '', given, ...more] = text.trim().split('/')
  const address = withoutBrackets(written)
  const words = wordsOf(address)
  if (!words || more.length > 0 || (given !== undefined && !/^\d{1,3}$/.test(given))) return undefined
  const fixed = isIP(address) === 4 ? 96 : 0
  const bits = given === undefined ? 128 : fixed + Number(given)
  if (bits > 128 || (/^::ffff:/i.test(address) && isMapped(words) && bits < 96)) return undefined
  return { bits, key: keyOf(words, bits) }
}

/** How many bits of IPv4 addresses a network fixes, 0 where it holds all of them; undefined where it has none. */
export const bitsOfIPv4 = ({ bits, key }: Prefix): number | undefined => {
  if (bits >= 96) return typeof key === 'number' ? bits - 96 : undefined
  return key === keyOf([0, 0, 0xffff, 0], bits) ? 0 : undefined
}

/** Something for each of many networks. Finding those of an address takes as long as there are lengths of prefixes, however many networks there are. */
export class PrefixMap<Value> {
  readonly #byBits = new Map<number, Map<string | number, Value>>()

  get({ bits, key }: Prefix): Value | undefined {
    return this.#byBits.get(bits)?.get(key)
  }

  set({ bits, key }: Prefix, value: Value): void {
    const ofLength = this.#byBits.get(bits) ?? new Map<string | number, Value>()
    this.#byBits.set(bits, ofLength.set(key, value))
  }

  delete({ bits, key }: Prefix): void {
    const ofLength = this.#byBits.get(bits)
    if (ofLength?.delete(key) && ofLength.size === 0) this.#byBits.delete(bits)
  }

  /** What there is for every network that the address is in; nothing for a text that is no address. */
  matching(address: string): readonly Value[] {
    const words = wordsOf(address)
    const found: Value[] = []
    if (!words) return found
    for (const [bits, ofLength] of this.#byBits) {
      const value = ofLength.get(keyOf(words, bits))
      if (value !== undefined) found.push(value)
    }
    return found
  }
}

/** A set of networks that changes while it is used. */
export class Networks {
  readonly #prefixes = new Map<string, Prefix>()
  /** How many texts stand for the same network. */
  readonly #counts = new PrefixMap<number>()

  /** Throws as {@link change}. */
  constructor(networks: Iterable<string> = []) {
    this.change(networks)
  }

  /**
   * These are the networks from now on; only those that were not there before are read. True where something changed. Throws an Error that names
   * an entry which is neither an address nor a CIDR, with everything as it was.
   */
  change(networks: Iterable<string>): boolean {
    const present = new Set(networks)
    const added = new Map<string, Prefix>()
    for (const text of present) if (!this.#prefixes.has(text)) added.set(text, readPrefix(text))
    const before = this.#prefixes.size
    for (const [text, prefix] of this.#prefixes) if (!present.has(text)) this.#remove(text, prefix)
    const removed = before - this.#prefixes.size
    for (const [text, prefix] of added) {
      this.#prefixes.set(text, prefix)
      this.#counts.set(prefix, (this.#counts.get(prefix) ?? 0) + 1)
    }
    return added.size + removed > 0
  }

  /** Whether an address, in whatever spelling, is in one of them. A text that is no address is in none. */
  has(address: string): boolean {
    return this.#counts.matching(address).length > 0
  }

  #remove(text: string, prefix: Prefix): void {
    this.#prefixes.delete(text)
    const left = (this.#counts.get(prefix) ?? 0) - 1
    if (left > 0) this.#counts.set(prefix, left)
    else this.#counts.delete(prefix)
  }
}

/** As {@link prefixOf}. Throws an Error that names a text which is neither an address nor a CIDR. */
export const readPrefix = (text: string): Prefix => {
  const prefix = prefixOf(text)
  if (!prefix) throw new Error(`an IP address or a CIDR expected, found ${JSON.stringify(text)}`)
  return prefix
}

const withoutBrackets = (text: string): string => (text.startsWith('[') ? text.replace(/^\[|\]$/g, '') : text)

const word4 = (text: string): number => {
  const [a, b, c, d] = text.split('.')
  return ((Number(a) << 24) | (Number(b) << 16) | (Number(c) << 8) | Number(d)) >>> 0
}

/** The groups of 16 bits of a part of an IPv6 address; its end may be written as IPv4. */
const groupsOf = (part: string): number[] =>
  part === ''
    ? []
    : part.split(':').flatMap((group) => {
        if (!group.includes('.')) return [Number.parseInt(group, 16)]
        const word = word4(group)
        return [word >>> 16, word & 0xffff]
      })

const join = (high: number, low: number): number => ((high << 16) | low) >>> 0

const isMapped = ([a, b, c]: Words): boolean => a === 0 && b === 0 && c === 0xffff

// Networks of IPv4, nearly all of them, are found by a number.
const keyOf = (words: Words, bits: number): string | number => {
  const [a, b, c, d] = words
  if (bits >= 96 && isMapped(words)) return masked(d, bits - 96)
  return `${masked(a, bits)}.${masked(b, bits - 32)}.${masked(c, bits - 64)}.${masked(d, bits - 96)}`
}

/** The first bits of a word; a shift by 32 would be one by none. */
const masked = (word: number, bits: number): number =>
  bits <= 0 ? 0 : bits >= 32 ? word : (word & (0xffffffff << (32 - bits))) >>> 0
