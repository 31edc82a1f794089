import { readHeaderParams } from '@trunkline/sip-agent/message'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { printable } from '../headers.ts'
import type { SipRequest } from '../srf.ts'

/** Maximum number of parts of a body that are read. */
const maxParts = 16
/** Maximum length of a boundary (RFC 2046 section 5.1.1). */
const maxBoundaryLength = 70

/** A message with a body. */
type Message = Pick<SipRequest, 'body' | 'get'>

/**
 * Returns the SDP of a message: its body, or the `application/sdp` part of a `multipart/mixed` body (RFC 5621
 * section 3). Returns undefined without a body. Throws `unsupported_body` for a body without SDP.
 */
export const sdpOf = (message: Message): string | undefined => {
  const { body } = message
  if (!body) return undefined
  const type = message.get('Content-Type') ?? ''
  if (message.get('Content-Encoding')?.trim()) throw unsupported('Content-Encoding')
  const media = mediaType(type)
  if (media === 'application/sdp') return body
  const boundary =
    readHeaderParams(type)
      .get('boundary')
      ?.replace(/^"(.*)"$/, '$1') ?? ''
  const hasParts = media.startsWith('multipart/') && boundary !== '' && boundary.length <= maxBoundaryLength
  const part = hasParts ? sdpPart(body, boundary) : undefined
  if (part === undefined) throw unsupported(type)
  return part
}

/**
 * Returns the SDP of an answer. A body without SDP is returned as it is, so that its reader names the fault.
 */
export const answerIn = (message: Message): string | undefined => {
  try {
    return sdpOf(message)
  } catch {
    return message.body
  }
}

const unsupported = (found: string): TrunklineError =>
  new TrunklineError('unsupported_body', 'application/sdp expected.', { found: printable(found, 64) })

const mediaType = (value: string): string => value.split(';')[0]?.trim().toLowerCase() ?? ''

/**
 * Returns the `application/sdp` part of a multipart body (RFC 2046 section 5.1). Lines may end with LF only,
 * as proxies change line ends.
 */
const sdpPart = (body: string, boundary: string): string | undefined => {
  const [, ...parts] = `\n${body}`.split(`\n--${boundary}`)
  for (const part of parts.slice(0, maxParts)) {
    if (part.startsWith('--')) return undefined
    const [, headers = '', content = ''] = /^[ \t]*\r?\n((?:[^\r\n]+\r?\n)*)\r?\n([\s\S]*)$/.exec(part) ?? []
    const type = /^content-type[ \t]*:(.*)$/im.exec(headers)?.[1] ?? ''
    if (mediaType(type) === 'application/sdp') return `${content.replace(/\r?\n?$/, '')}\r\n`
  }
  return undefined
}
