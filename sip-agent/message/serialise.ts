import type { Headers } from './headers.ts'
import type { RawMessage } from './message.ts'

/** Returns the start line of a message. */
export const startLine = (message: RawMessage): string =>
  message.kind === 'request'
    ? `${message.method} ${message.uri} SIP/2.0`
    : `SIP/2.0 ${message.status} ${message.reason}`

/** Serialises a message; Content-Length is always computed (RFC 3261 20.14). */
export const serialise = (start: string, headers: Headers, body: Buffer): Buffer => {
  let head = `${start}\r\n`
  for (const { name, key, value } of headers.list()) {
    if (key !== 'content-length') head += `${name}: ${value}\r\n`
  }
  head += `Content-Length: ${body.length}\r\n\r\n`
  return body.length === 0 ? Buffer.from(head) : Buffer.concat([Buffer.from(head), body])
}

/** Serialises a whole message. */
export const serialiseMessage = (message: RawMessage): Buffer =>
  serialise(startLine(message), message.headers, message.body)
