import { TrunklineError } from '../../core/errors/catalogue.ts'
import { printable } from '../headers.ts'
import type { SipRequest } from '../srf.ts'

/** Most parts of a body that are looked at. */
const maxParts = 16

/** A message with a body. */
type Message = Pick<SipRequest, 'body' | 'get'>

/**
 * The SDP of a message: its body, or the part of a `multipart/mixed` one that is `application/sdp` (RFC 5621
 * section 3). Undefined where there is no body. Throws `unsupported_body` for a body without one.
 */
export const sdpOf = (message: Message): string | undefined => {
  const { body } = message
  if (!body) return undefined
  const type = message.get('Content-Type') ?? ''
  if (message.get('Content-Encoding')?.trim()) throw unsupported('Content-Encoding')
  const media = mediaType(type)
  if (media === 'application/sdp') return body
  const boundary = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type)
  const part =
    media.startsWith('multipart/') && boundary ? sdpPart(body, boundary[1] ?? boundary[2] ?? '') : undefined
  if (part === undefined) throw unsupported(type)
  return part
}

/**
 * The SDP of an answer; a body without one comes back as it is, for whoever reads it to say what is wrong
 * with it.
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
 * RFC 2046 section 5.1. Lines may end with LF alone: what comes through several hands is not always what it
 * was.
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
