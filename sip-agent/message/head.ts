import { isAscii, isUtf8 } from 'node:buffer'
import { type Headers, knownName } from './headers.ts'
import type { MessageLimits } from './limits.ts'
import { SipParseError } from './sip-parse-error.ts'
import { isToken } from './text.ts'

// RFC 3261 25.1 quoted-pair: control characters except CR and LF are allowed after a backslash.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const escapedControls = /\\[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controls = /[\u0000-\u0008\u000a-\u001f\u007f]/

const isBlank = (code: number | undefined) => code === 32 || code === 9

/**
 * Start line and header lines of one message, read in one pass over the bytes. The pass finds the ends of
 * lines, colons and control characters. Texts are cut from one string for the whole head.
 */
export class Head {
  readonly #bytes: Buffer
  readonly #end: number
  /** The head as text; undefined if a character may have several bytes. */
  readonly #text: string | undefined
  #next: number
  /** Start and end of the latest line. */
  #from = 0
  #to = 0
  #colon = -1
  #hasControls = false

  /** Reads the lines from `start` to `end` of `bytes`, which exclude the blank line after them. */
  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes
    this.#next = start
    this.#end = end
    this.#text = isAscii(bytes) ? bytes.toString('latin1', 0, end) : undefined
  }

  /** Returns the first line. Throws {@link SipParseError}. */
  startLine(limits: MessageLimits): string {
    this.#read()
    const line = this.#slice(this.#from, this.#to)
    if (line.length > limits.headerLength) throw new SipParseError('start line', 'too long')
    if (this.#hasControls) throw new SipParseError('start line', 'control character')
    return line
  }

  /** Reads and unfolds the other lines into `headers` (RFC 3261 7.3.1). Throws {@link SipParseError}. */
  readHeaders(headers: Headers, limits: MessageLimits): void {
    let follows = false
    while (this.#next < this.#end) {
      this.#read()
      if (this.#from === this.#to) follows = false
      else if (isBlank(this.#bytes[this.#from])) {
        if (!follows) throw new SipParseError('header', 'a continuation line without a header')
      } else {
        follows = true
        if (this.#next < this.#end && isBlank(this.#bytes[this.#next])) this.#addFolded(headers, limits)
        else this.#add(headers, limits)
      }
    }
  }

  /**
   * Finds the end of the next line, its first colon, and whether it holds control characters other than the
   * tab.
   */
  #read(): void {
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#next
    let colon = -1
    let odd = false
    this.#from = at
    for (; at < end; at++) {
      const code = bytes[at] as number
      if (code > 58 && code !== 127) continue
      if (code === 58) {
        if (colon < 0) colon = at
      } else if (code < 32 || code === 127) {
        if (code === 13 && at + 1 < end && bytes[at + 1] === 10) break
        if (code !== 9) odd = true
      }
    }
    this.#to = at
    this.#next = at + 2
    this.#colon = colon
    this.#hasControls = odd
  }

  #add(headers: Headers, limits: MessageLimits): void {
    const from = this.#from
    const to = this.#to
    const colon = this.#colon
    // Cheap check first: a line has at most as many characters as bytes.
    if (to - from > limits.headerLength) limitLine(this.#slice(from, to), limits)
    if (colon < 0) throw badLine(this.#slice(from, to))
    this.#append(headers, limits, this.#slice(from, colon), this.#value(colon + 1, to), this.#hasControls)
  }

  #addFolded(headers: Headers, limits: MessageLimits): void {
    let line = this.#slice(this.#from, this.#to)
    while (this.#next < this.#end && isBlank(this.#bytes[this.#next])) {
      this.#read()
      line += ` ${this.#slice(this.#from, this.#to).trim()}`
      limitLine(line, limits)
    }
    const colon = line.indexOf(':')
    if (colon < 0) throw badLine(line)
    this.#append(headers, limits, line.slice(0, colon), line.slice(colon + 1).trim(), true)
  }

  #append(headers: Headers, limits: MessageLimits, written: string, value: string, odd: boolean): void {
    const known = knownName(written)
    const name = known ? known.name : written.trimEnd()
    if (!known && !isToken(name)) throw badLine(written)
    if (odd && controls.test(value) && controls.test(value.replace(escapedControls, ''))) {
      throw new SipParseError(name, 'control character in the value')
    }
    if (headers.size >= limits.headers) throw new SipParseError('header', 'too many header lines')
    // Drops names with escapes. drachtio-srf decodes escapes in names, although SIP does not:
    // `%50-Asserted-Identity` would become a header that only a carrier may assert.
    if (!known && name.includes('%')) return
    if (known) headers.add(known, value)
    else headers.append(name, value)
  }

  /** Returns the text of a range without surrounding white space. */
  #value(from: number, to: number): string {
    const bytes = this.#bytes
    while (from < to && isBlank(bytes[from])) from++
    while (from < to && isBlank(bytes[to - 1])) to--
    const value = this.#slice(from, to)
    // The value may have white space beyond ASCII.
    return this.#text === undefined || this.#hasControls ? value.trim() : value
  }

  #slice(from: number, to: number): string {
    return this.#text === undefined ? decode(this.#bytes.subarray(from, to)) : this.#text.slice(from, to)
  }
}

/** Decodes header text: UTF-8, or Latin-1 for other bytes, as in old display names. */
const decode = (bytes: Buffer) => (isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1'))

const badLine = (line: string) => new SipParseError('header', `bad header line "${line.slice(0, 40)}"`)

const limitLine = (line: string, limits: MessageLimits) => {
  if (line.length > limits.headerLength) throw new SipParseError('header', 'a line is too long')
}
