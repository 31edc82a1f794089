import { Head } from './head.ts'
import { Headers } from './headers.ts'
import { defaultMessageLimits, type MessageLimits } from './limits.ts'
import type { RawMessage, RawRequest } from './message.ts'
import { SipParseError } from './sip-parse-error.ts'
import { isToken, parseNumber } from './text.ts'

const empty = Buffer.alloc(0)

const parseStatusLine = (line: string) => {
  const match = /^SIP\/([0-9]+\.[0-9]+) ([0-9]+)(?: (.*))?$/i.exec(line)
  if (!match) throw new SipParseError('start line', 'bad status line')
  if (match[1] !== '2.0') throw new SipParseError('start line', 'unknown version', 505)
  const status = parseNumber(match[2] as string, 699, 'start line')
  if (status < 100) throw new SipParseError('start line', 'bad status')
  return { status, reason: match[3] ?? '' }
}

const parseRequestLine = (line: string) => {
  const first = line.indexOf(' ')
  const second = line.indexOf(' ', first + 1)
  const method = line.slice(0, Math.max(0, first))
  const version = line.slice(second + 1)
  if (first < 0 || second <= first + 1 || !isToken(method))
    throw new SipParseError('start line', 'bad request line')
  if (version !== 'SIP/2.0') {
    const match = /^SIP\/([0-9]+\.[0-9]+)$/i.exec(version)
    if (!match) throw new SipParseError('start line', 'bad request line')
    if (match[1] !== '2.0') throw new SipParseError('start line', 'unknown version', 505)
  }
  return { method, uri: line.slice(first + 1, second) }
}

const isResponseLine = (line: string) => /^SIP\/[0-9]/i.test(line)

const parsePart = (bytes: Buffer, from: number, to: number, limits: MessageLimits): RawMessage => {
  const head = new Head(bytes, from, to)
  const start = head.startLine(limits)
  const headers = new Headers()
  if (isResponseLine(start)) {
    const { status, reason } = parseStatusLine(start)
    head.readHeaders(headers, limits)
    return { kind: 'response', status, reason, headers, body: empty }
  }
  try {
    head.readHeaders(headers, limits)
    const { method, uri } = parseRequestLine(start)
    return { kind: 'request', method, uri, headers, body: empty }
  } catch (error) {
    const method = /^[^ ]+/.exec(start)?.[0] ?? ''
    if (error instanceof SipParseError && isToken(method)) error.request = { method, headers }
    throw error
  }
}

/**
 * Parses the head of a message: start line and headers, without the blank line. Throws {@link SipParseError}.
 */
export const parseHead = (bytes: Buffer, limits: MessageLimits = defaultMessageLimits): RawMessage =>
  parsePart(bytes, 0, bytes.length, limits)

/**
 * Returns the declared Content-Length; undefined without one. Several different values are a fault (RFC 4475
 * 3.3.9).
 */
export const contentLength = (message: RawMessage, max: number): number | undefined => {
  const { headers } = message
  const value = headers.first('content-length')
  if (value === undefined) return undefined
  if (headers.count('content-length') > 1)
    throw attachRequest(message, new SipParseError('Content-Length', 'stands twice'))
  try {
    return parseNumber(value, max, 'Content-Length')
  } catch (error) {
    throw attachRequest(message, error)
  }
}

/**
 * Returns the Content-Length in a malformed head, so that a stream can continue after its message. Returns
 * undefined unless exactly one line declares it, unfolded, in at most nine digits.
 */
export const declaredLength = (head: Buffer): number | undefined => {
  const lines = head.toString('latin1').split('\r\n')
  const [at, ...more] = lines.flatMap((line, index) =>
    /^(?:content-length|l)[ \t]*:/i.test(line) ? [index] : [],
  )
  if (at === undefined || more.length > 0 || /^[ \t]/.test(lines[at + 1] ?? '')) return undefined
  const digits = /^[^:]*:[ \t]*([0-9]{1,9})[ \t]*$/.exec(lines[at] ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Attaches a request to the error found in it, so that the request can be answered. */
export const attachRequest = <E>(message: RawMessage, error: E): E => {
  if (error instanceof SipParseError && message.kind === 'request') {
    error.request = { method: message.method, headers: message.headers }
  }
  return error
}

/** Returns the message with its body. */
const withBody = (message: RawMessage, body: Buffer): RawMessage => {
  const { headers } = message
  if (message.kind === 'response') {
    return { kind: 'response', status: message.status, reason: message.reason, headers, body }
  }
  return { kind: 'request', method: message.method, uri: message.uri, headers, body }
}

/** Returns the offset of the blank line, or -1. */
export const headEnd = (bytes: Buffer, from = 0): number => bytes.indexOf('\r\n\r\n', from, 'latin1')

/**
 * Parses one datagram (RFC 3261 18.3). Bytes after the declared body are ignored; a shorter body is a fault.
 */
export const parseDatagram = (bytes: Buffer, limits: MessageLimits = defaultMessageLimits): RawMessage => {
  if (bytes.length > limits.messageBytes) throw new SipParseError('message', 'too large', 413)
  let start = 0
  while (bytes[start] === 13 && bytes[start + 1] === 10) start += 2
  const end = headEnd(bytes, start)
  const message = parsePart(bytes, start, end < 0 ? bytes.length : end, limits)
  if (end < 0) throw attachRequest(message, new SipParseError('message', 'no blank line after the headers'))
  const most = bytes.length - end - 4
  const length = contentLength(message, limits.messageBytes) ?? most
  if (length > most) throw attachRequest(message, new SipParseError('Content-Length', 'larger than the body'))
  return withBody(message, length === 0 ? empty : bytes.subarray(end + 4, end + 4 + length))
}

/**
 * Parses a message of an application. Its Content-Length is ignored, because applications count characters
 * instead of bytes.
 */
export const parseFromApp = (bytes: Buffer, limits: MessageLimits): RawMessage => {
  const end = headEnd(bytes)
  const message = parsePart(bytes, 0, end < 0 ? bytes.length : end, limits)
  return withBody(message, end < 0 ? empty : bytes.subarray(end + 4))
}

/** Returns whether a message is a request. */
export const isRequest = (message: RawMessage): message is RawRequest => message.kind === 'request'
