import { isIP } from 'node:net'
import { type AddressWords, addressWords, isIPv4Words, withoutBrackets } from './address.ts'

/** A network. `bits`: length of its prefix, of 128 bits. `key`: its prefix, the same for every spelling. */
export interface Prefix {
  readonly bits: number
  readonly key: string | number
}

/**
 * Parses an address or a CIDR; returns undefined for any other text. The prefix of an IPv4-mapped network
 * includes the 96 bits before the IPv4 address, and must not be shorter. Accepts every network that the
 * configuration accepts, because one rejected network would prevent the use of the whole list.
 */
export const parsePrefix = (text: string): Prefix | undefined => {
  const [written = '', given, ...more] = text.trim().split('/')
  const address = withoutBrackets(written)
  const words = addressWords(address)
  if (!words || more.length > 0 || (given !== undefined && !/^\d{1,3}$/.test(given))) return undefined
  const fixed = isIP(address) === 4 ? 96 : 0
  const bits = given === undefined ? 128 : fixed + Number(given)
  if (bits > 128 || (/^::ffff:/i.test(address) && isIPv4Words(words) && bits < 96)) return undefined
  return { bits, key: keyOf(words, bits) }
}

/**
 * Parses an address or a CIDR like {@link parsePrefix}. Throws an Error that quotes the text if it is
 * neither.
 */
export const requirePrefix = (text: string): Prefix => {
  const prefix = parsePrefix(text)
  if (!prefix) throw new Error(`an IP address or a CIDR expected, found ${JSON.stringify(text)}`)
  return prefix
}

/**
 * Returns the prefix length of a network in bits of an IPv4 address; 0 if the network holds all of IPv4.
 * Returns undefined if it holds no IPv4 address.
 */
export const ipv4PrefixBits = ({ bits, key }: Prefix): number | undefined => {
  if (bits >= 96) return typeof key === 'number' ? bits - 96 : undefined
  return key === keyOf([0, 0, 0xffff, 0], bits) ? 0 : undefined
}

/**
 * Values by network. The cost of a look-up grows with the number of different prefix lengths, not with the
 * number of networks.
 */
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

  /** Returns the values of every network that holds an address; empty for a text that is not an address. */
  matching(address: string): readonly Value[] {
    const words = addressWords(address)
    const found: Value[] = []
    if (!words) return found
    for (const [bits, ofLength] of this.#byBits) {
      const value = ofLength.get(keyOf(words, bits))
      if (value !== undefined) found.push(value)
    }
    return found
  }
}

/** Set of networks that may change while it is used. */
export class Networks {
  readonly #prefixes = new Map<string, Prefix>()
  /** Number of entries that name the same network, by network. */
  readonly #counts = new PrefixMap<number>()

  /** Throws like {@link change}. */
  constructor(networks: Iterable<string> = []) {
    this.change(networks)
  }

  /**
   * Replaces the networks. Parses only those that are new. Returns whether the set changed. Throws an Error
   * that names an entry which is neither an address nor a CIDR, and changes nothing then.
   */
  change(networks: Iterable<string>): boolean {
    const present = new Set(networks)
    const added = new Map<string, Prefix>()
    for (const text of present) if (!this.#prefixes.has(text)) added.set(text, requirePrefix(text))
    const before = this.#prefixes.size
    for (const [text, prefix] of this.#prefixes) if (!present.has(text)) this.#remove(text, prefix)
    const removed = before - this.#prefixes.size
    for (const [text, prefix] of added) {
      this.#prefixes.set(text, prefix)
      this.#counts.set(prefix, (this.#counts.get(prefix) ?? 0) + 1)
    }
    return added.size + removed > 0
  }

  /**
   * Returns whether a network holds an address, in any spelling. Returns false for a text that is not an
   * address.
   */
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

// The key of an IPv4 network, the most frequent kind, is a number: faster than text.
const keyOf = (words: AddressWords, bits: number): string | number => {
  const [a, b, c, d] = words
  if (bits >= 96 && isIPv4Words(words)) return masked(d, bits - 96)
  return `${masked(a, bits)}.${masked(b, bits - 32)}.${masked(c, bits - 64)}.${masked(d, bits - 96)}`
}

/**
 * Returns the first bits of a word. Needs the special case because JavaScript treats a shift by 32 as a shift
 * by 0.
 */
const masked = (word: number, bits: number): number =>
  bits <= 0 ? 0 : bits >= 32 ? word : (word & (0xffffffff << (32 - bits))) >>> 0
