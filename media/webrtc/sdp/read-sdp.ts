import { parse } from 'sdp-transform'
import type { Direction } from '../../types.ts'
import { type Fields, integer, list, object, text } from './fields.ts'
import { readSimulcast } from './read-simulcast.ts'
import { fault, matching } from './sdp-fault.ts'
import {
  type Credentials,
  type Feedback,
  type Fingerprint,
  type Format,
  fingerprintHashes,
  knownFeedback,
  type MediaSection,
  midUri,
  ridUri,
  type Section,
  type SessionDescription,
  type Setup,
  transportUri,
} from './session-description.ts'

/** Maximum length of a session description, in characters. */
export const maxSdpLength = 65_536

/** Maximum number of m-lines in one description. */
const maxSections = 32

const digestBytes = { 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 } as const
const directions = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const
const staticFormats: Readonly<Record<number, { name: string; clockRate: number }>> = {
  0: { name: 'PCMU', clockRate: 8000 },
  8: { name: 'PCMA', clockRate: 8000 },
  9: { name: 'G722', clockRate: 8000 },
}

/**
 * Parses a browser's session description. Candidates are ignored: the gateway is ICE-lite (RFC 8445 section
 * 2.5) and learns the browser's address from its checks. Throws `bad_sdp` with the field, the expected value,
 * and the m-line.
 */
export const readSdp = (sdp: string, role: 'offer' | 'answer'): SessionDescription => {
  checkForm(sdp)
  const session = object(parse(sdp))
  const media = list(session.media)
  if (media.length === 0) throw fault('session', 'an m-line is missing')
  if (media.length > maxSections) throw fault('session', `at most ${maxSections} m-lines expected`)
  const sections = media.map((fields, index) => readSection(session, fields, index, role))
  const mids = sections.flatMap((section) => (section.mid === undefined ? [] : [section.mid]))
  if (new Set(mids).size !== mids.length) throw fault('session', 'every a=mid must be different')
  return { sections }
}

const checkForm = (sdp: string): void => {
  if (typeof sdp !== 'string') throw fault('session', 'text expected')
  if (sdp.length > maxSdpLength) throw fault('session', `at most ${maxSdpLength} characters expected`)
  if (sdp.includes('\0')) throw fault('session', 'a NUL character is not permitted')
  if (!/^v=0\r?\n/.test(sdp)) throw fault('session', 'v=0 expected in the first line')
  const wrong = sdp.split(/\r?\n/).findIndex((line) => line !== '' && !/^[a-z]=/.test(line))
  if (wrong >= 0) throw fault(`line ${wrong + 1}`, 'a letter and = expected')
}

const readSection = (session: Fields, media: Fields, index: number, role: 'offer' | 'answer'): Section => {
  const type = text(media.type)
  const protocol = text(media.protocol)
  const where = `m-line ${index + 1}`
  if (type === undefined || protocol === undefined)
    throw fault(where, 'type, port, protocol and formats expected')
  const port = integer(media.port, 0, 65_535)
  if (port === undefined) throw fault(where, 'a port from 0 to 65535 expected')
  // A bundle-only m-line (RFC 8843 section 6) has port 0 and no transport: the gateway never bundles.
  if (port === 0 || (type !== 'audio' && type !== 'video')) {
    const mid = text(media.mid)
    return {
      kind: 'refused',
      media: type,
      ...(mid !== undefined && { mid: checkedMid(mid, where) }),
      protocol,
      formats: text(media.payloads) ?? '0',
    }
  }
  return readMedia(session, media, { type, protocol, where: `${where} (${type})`, role })
}

interface Context {
  readonly type: 'audio' | 'video'
  readonly protocol: string
  readonly where: string
  readonly role: 'offer' | 'answer'
}

const readMedia = (session: Fields, media: Fields, context: Context): MediaSection => {
  const { type, protocol, where, role } = context
  if (!/^(UDP|TCP)\/TLS\/RTP\/SAVPF?$/.test(protocol))
    throw fault(where, 'UDP/TLS/RTP/SAVPF expected as protocol')
  if (media.rtcpMux === undefined) throw fault(where, 'a=rtcp-mux is missing')
  const ssrc = list(media.ssrcs).map((line) => integer(line.id, 1, 0xffff_ffff))[0]
  const midExtension = readExtension(media, midUri)
  const transportExtension = readExtension(media, transportUri)
  if (midExtension !== undefined && midExtension === transportExtension)
    throw fault(where, 'every a=extmap must have its own id')
  const simulcast = readSimulcast(media, readExtension(media, ridUri))
  return {
    kind: type,
    mid: checkedMid(text(media.mid) ?? '', where),
    protocol,
    formats: readFormats(media, where),
    direction: readDirection(media.direction ?? session.direction),
    credentials: readCredentials(session, media, where, role),
    ...(ssrc !== undefined && { ssrc }),
    ...(midExtension !== undefined && { midExtension }),
    ...(transportExtension !== undefined && { transportExtension }),
    ...(simulcast && { simulcast }),
  }
}

// A token (RFC 8866 section 9), with the length that mediasoup and the header extension accept.
const checkedMid = (mid: string, where: string): string =>
  matching(mid, /^[!#$%&'*+\-.^_`{|}~0-9A-Za-z]{1,32}$/, where, 'a=mid of 1 to 32 token characters')

const readDirection = (value: unknown): Direction => directions.find((known) => known === value) ?? 'sendrecv'

const readCredentials = (
  session: Fields,
  media: Fields,
  where: string,
  role: 'offer' | 'answer',
): Credentials => {
  const field = (name: string) => media[name] ?? session[name]
  return {
    // Length limits of RFC 8839 section 5.4.
    ufrag: matching(field('iceUfrag'), /^[A-Za-z0-9+/]{4,256}$/, where, 'a=ice-ufrag of 4 to 256 characters'),
    password: matching(
      field('icePwd'),
      /^[A-Za-z0-9+/]{22,256}$/,
      where,
      'a=ice-pwd of 22 to 256 characters',
    ),
    fingerprint: readFingerprint(object(field('fingerprint')), where),
    setup: readSetup(field('setup'), where, role),
  }
}

const readSetup = (value: unknown, where: string, role: 'offer' | 'answer'): Setup => {
  const found = matching(
    value,
    /^(active|passive|actpass)$/,
    where,
    'a=setup of active, passive or actpass',
  ) as Setup
  if (role === 'answer' && found === 'actpass')
    throw fault(where, 'a=setup of active or passive expected in an answer')
  return found
}

const readFingerprint = (fields: Fields, where: string): Fingerprint => {
  if (fields.type === undefined) throw fault(where, 'a=fingerprint is missing')
  const algorithm = fingerprintHashes.find((hash) => hash === text(fields.type)?.toLowerCase())
  if (!algorithm) throw fault(where, `a=fingerprint with ${fingerprintHashes.join(', ')} expected`)
  const bytes = digestBytes[algorithm]
  const pattern = new RegExp(`^[0-9A-F]{2}(:[0-9A-F]{2}){${bytes - 1}}$`)
  const value = text(fields.hash)?.toUpperCase()
  return {
    algorithm,
    value: matching(value, pattern, where, `a=fingerprint of ${bytes} bytes in hexadecimal`),
  }
}

const readFormats = (media: Fields, where: string): readonly Format[] => {
  const maps = list(media.rtp)
  const parameters = list(media.fmtp)
  const words = (text(media.payloads) ?? '').split(' ').filter((word) => word !== '')
  if (words.some((word) => !/^\d{1,3}$/.test(word) || Number(word) > 127))
    throw fault(where, 'payload types from 0 to 127 expected')
  // Each payload type is read once, because every look-up takes time proportional to the length of the
  // description.
  const formats = [...new Set(words.map(Number))].flatMap((payloadType) => {
    const map = maps.find((line) => line.payload === payloadType)
    const name = text(map?.codec) ?? staticFormats[payloadType]?.name
    const clockRate = integer(map?.rate, 1, 1_000_000) ?? staticFormats[payloadType]?.clockRate
    if (name === undefined || clockRate === undefined) return []
    const own = parameters.find((line) => line.payload === payloadType)
    const feedback = readFeedback(media, payloadType)
    return [
      {
        payloadType,
        name,
        clockRate,
        parameters: text(own?.config) ?? '',
        ...(feedback.length > 0 && { feedback }),
      },
    ]
  })
  if (formats.length === 0) throw fault(where, 'at least one format with a known meaning expected')
  return formats
}

// An asterisk stands for all formats (RFC 4585 section 4.2).
const readFeedback = (media: Fields, payloadType: number): readonly Feedback[] => {
  const lines = list(media.rtcpFb)
    .filter(({ payload }) => payload === payloadType || payload === '*')
    .map(({ type, subtype }) => [text(type), text(subtype)].filter((word) => word !== undefined).join(' '))
  return knownFeedback.filter((known) => lines.includes(known))
}

const readExtension = (media: Fields, uri: string): number | undefined => {
  const line = list(media.ext).find((fields) => text(fields.uri) === uri)
  return integer(line?.value, 1, 14)
}
