import { isUtf8 } from 'node:buffer'
import { SipParseError } from './error.ts'
import { Headers } from './headers.ts'
import { defaultLimits, type Limits } from './limits.ts'
import type { RawMessage, RawRequest } from './message.ts'
import { isToken, parseNumber } from './text.ts'

const empty = Buffer.alloc(0)

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controls = /[\u0000-\u0008\u000a-\u001f\u007f]/
// RFC 3261 25.1 quoted-pair: behind a backslash they are allowed, all but CR and LF.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const escapedControls = /\\[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f]/g

/** Header text is UTF-8; what is not (old display names in Latin-1) is still readable byte by byte. */
const decode = (bytes: Buffer) => (isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1'))

const addHeader = (headers: Headers, line: string, limits: Limits) => {
  if (line.length > limits.headerLength) throw new SipParseError('header', 'a line is too long')
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(0, colon)).trimEnd()
  if (!isToken(name)) throw new SipParseError('header', `bad header line "${line.slice(0, 40)}"`)
  const value = line.slice(colon + 1).trim()
  if (controls.test(value) && controls.test(value.replace(escapedControls, '')))
    throw new SipParseError(name, 'control character in the value')
  if (headers.size >= limits.headers) throw new SipParseError('header', 'too many header lines')
  headers.append(name, value)
}

/** Unfolds and splits header lines (RFC 3261 7.3.1). */
const parseHeaders = (lines: readonly string[], headers: Headers, limits: Limits) => {
  let held = ''
  for (const line of lines) {
    if (line[0] === ' ' || line[0] === '\t') {
      if (held === '') throw new SipParseError('header', 'a continuation line without a header')
      held += ` ${line.trim()}`
      if (held.length > limits.headerLength) throw new SipParseError('header', 'a line is too long')
      continue
    }
    if (held !== '') addHeader(headers, held, limits)
    held = line
  }
  if (held !== '') addHeader(headers, held, limits)
}

const parseStatusLine = (line: string) => {
  const match = /^SIP\/([0-9]+\.[0-9]+) ([0-9]+)(?: (.*))?$/i.exec(line)
  if (!match) throw new SipParseError('start line', 'bad status line')
  if (match[1] !== '2.0') throw new SipParseError('start line', 'unknown version', 505)
  const status = parseNumber(match[2] as string, 699, 'start line')
  if (status < 100) throw new SipParseError('start line', 'bad status')
  return { status, reason: match[3] ?? '' }
}

const parseRequestLine = (line: string) => {
  const [method = '', uri = '', version = '', ...more] = line.split(' ')
  if (!isToken(method) || uri === '' || more.length > 0)
    throw new SipParseError('start line', 'bad request line')
  const match = /^SIP\/([0-9]+\.[0-9]+)$/i.exec(version)
  if (!match) throw new SipParseError('start line', 'bad request line')
  if (match[1] !== '2.0') throw new SipParseError('start line', 'unknown version', 505)
  return { method, uri }
}

const isResponseLine = (line: string) => /^SIP\/[0-9]/i.test(line)

/** Splits the head (start line and headers, without the blank line) of a message. Throws {@link SipParseError}. */
export const parseHead = (bytes: Buffer, limits: Limits = defaultLimits): RawMessage => {
  const lines = decode(bytes).split('\r\n')
  const start = lines.shift() ?? ''
  if (start.length > limits.headerLength) throw new SipParseError('start line', 'too long')
  if (controls.test(start)) throw new SipParseError('start line', 'control character')
  const headers = new Headers()
  if (isResponseLine(start)) {
    const line = parseStatusLine(start)
    parseHeaders(lines, headers, limits)
    return { kind: 'response', ...line, headers, body: empty }
  }
  try {
    parseHeaders(lines, headers, limits)
    return { kind: 'request', ...parseRequestLine(start), headers, body: empty }
  } catch (error) {
    const method = /^[^ ]+/.exec(start)?.[0] ?? ''
    if (error instanceof SipParseError && isToken(method)) error.partial = { method, headers }
    throw error
  }
}

/** The declared Content-Length; undefined without one. Several different ones are a fault (RFC 4475 3.3.9). */
export const contentLength = (message: RawMessage, max: number): number | undefined => {
  const values = message.headers.all('content-length')
  if (values.length === 0) return undefined
  if (values.length > 1) throw blame(message, new SipParseError('Content-Length', 'stands twice'))
  try {
    return parseNumber(values[0] as string, max, 'Content-Length')
  } catch (error) {
    throw blame(message, error)
  }
}

/** Lets an error that was found in a request carry it, so that it can be answered. */
export const blame = <E>(message: RawMessage, error: E): E => {
  if (error instanceof SipParseError && message.kind === 'request') {
    error.partial = { method: message.method, headers: message.headers }
  }
  return error
}

/** Where the blank line starts, or -1. */
export const headEnd = (bytes: Buffer, from = 0): number => bytes.indexOf('\r\n\r\n', from, 'latin1')

/** Parses one datagram (RFC 3261 18.3): what follows the declared body is ignored, a body that is too short is a fault. */
export const parseDatagram = (bytes: Buffer, limits: Limits = defaultLimits): RawMessage => {
  if (bytes.length > limits.messageBytes) throw new SipParseError('message', 'too large', 413)
  let start = 0
  while (bytes[start] === 13 && bytes[start + 1] === 10) start += 2
  const end = headEnd(bytes, start)
  const message = parseHead(bytes.subarray(start, end < 0 ? bytes.length : end), limits)
  if (end < 0) throw blame(message, new SipParseError('message', 'no blank line after the headers'))
  const body = bytes.subarray(end + 4)
  const length = contentLength(message, limits.messageBytes) ?? body.length
  if (length > body.length) {
    throw blame(message, new SipParseError('Content-Length', 'larger than the body'))
  }
  return { ...message, body: body.subarray(0, length) }
}

/** Parses a message that our application wrote: its Content-Length counts characters, so it is ignored. */
export const parseFromApp = (bytes: Buffer, limits: Limits): RawMessage => {
  const end = headEnd(bytes)
  const message = parseHead(end < 0 ? bytes : bytes.subarray(0, end), limits)
  return { ...message, body: end < 0 ? empty : bytes.subarray(end + 4) }
}

/** Tells a request from a response. */
export const isRequest = (message: RawMessage): message is RawRequest => message.kind === 'request'
