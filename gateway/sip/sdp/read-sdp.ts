import { isIP } from 'node:net'
import { parse } from 'sdp-transform'
import { minOpusPacketMs, readOpusParameters } from '../../../media/codecs/opus-parameters.ts'
import type { Direction } from '../../../media/types.ts'
import { type Fields, integer, list, object, text } from '../../../media/webrtc/sdp/fields.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { printable } from '../headers.ts'
import { codecNamed, comfortNoise, staticFormats } from './codec-names.ts'
import { type CryptoLine, readCrypto } from './crypto-lines.ts'
import type {
  EventFormat,
  Format,
  Profile,
  RemoteAudio,
  RemoteCodec,
  RemoteDescription,
  Section,
} from './sdp-description.ts'

/** Maximum length of a description, in characters. */
const maxSdpLength = 16_384
/** Maximum number of m-lines. */
const maxSections = 16
/** Maximum number of formats of one m-line. */
const maxFormats = 64
/** Maximum number of `a=crypto` lines of one m-line. */
const maxCryptoLines = 16
/** Maximum number of sources of one m-line. */
const maxSources = 16

const profiles: readonly Profile[] = ['RTP/AVP', 'RTP/SAVP']
const directions = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const

/**
 * Reads an offer or answer with RTP, or with SRTP whose keys are in the description. Throws
 * {@link TrunklineError} `bad_sdp` (with what was expected, and in which line) or `no_common_codec` (with the
 * offered formats). Addresses are IP literals, so DNS is never queried.
 *
 * Descriptions of browsers have their own reader in `media/webrtc/sdp`. It requires what this one ignores
 * (ICE, DTLS, `a=mid`), ignores what this one requires (addresses and ports), and names its faults to
 * browsers. `sdp-transform` splits the lines for both.
 */
export const readSdp = (sdp: string): RemoteDescription => {
  checkForm(sdp)
  const session = object(parse(sdp))
  const media = list(session.media)
  if (media.length === 0) throw fault('an m-line expected')
  if (media.length > maxSections) throw fault(`at most ${maxSections} m-lines expected`)
  const sections = media.map(readSection)
  const texts = sdp.split(/\r?\n(?=m=)/).slice(1)
  const usable = media.flatMap((fields, index) => {
    const profile = profiles.find((each) => each === sections[index]?.protocol)
    if (sections[index]?.media !== 'audio' || !profile || fields.port === 0) return []
    return [{ fields, index, profile, text: texts[index] ?? '' }]
  })
  if (usable.length === 0)
    throw fault('an audio m-line with RTP/AVP or RTP/SAVP and a port expected', {
      mLines: sections.map(label),
    })
  return { origin: readOrigin(sdp), audios: readAudios(session, usable), sections }
}

/** Audio m-line that may be usable. */
interface Candidate {
  readonly fields: Fields
  readonly index: number
  readonly profile: Profile
  /** Text of the m-line with its attributes, as received. */
  readonly text: string
}

/**
 * Returns the m-lines with a known codec: several m-lines may be alternatives. A malformed one fails the
 * whole description.
 */
const readAudios = (session: Fields, usable: readonly Candidate[]): RemoteDescription['audios'] => {
  const found: RemoteAudio[] = []
  let first: unknown
  for (const candidate of usable) {
    try {
      found.push(readAudio(session, candidate))
    } catch (error) {
      if (!(error instanceof TrunklineError) || error.code !== 'no_common_codec') throw error
      first ??= error
    }
  }
  const [audio, ...more] = found
  if (!audio) throw first
  return [audio, ...more]
}

/**
 * Reads the origin line (RFC 4566 section 5.2). Ids and versions stay text, as a number could not hold all
 * their digits.
 */
const readOrigin = (sdp: string): RemoteDescription['origin'] => {
  const [, user, id, version, address] =
    /^o=(\S+) (\d{1,40}) (\d{1,40}) (\S+ \S+ \S+)[ \t]*\r?$/m.exec(sdp) ?? []
  return version === undefined ? undefined : { session: `${user} ${id} ${address}`, version }
}

const checkForm = (sdp: string): void => {
  if (sdp.length > maxSdpLength) throw fault(`at most ${maxSdpLength} characters expected`)
  if (!/^v=0\r?\n/.test(sdp)) throw fault('v=0 expected in the first line')
  // `sdp-transform` skips lines that it does not understand; here a broken line is rejected.
  const wrong = sdp
    .split(/\r?\n/)
    .findIndex((line) => line !== '' && !/^[a-z]=[^\p{Cc}]*$/u.test(line.replaceAll('\t', ' ')))
  if (wrong >= 0) throw fault(`line ${wrong + 1}: a letter, = and printable text expected`)
}

const readSection = (fields: Fields, index: number): Section => {
  const media = text(fields.type)
  const protocol = text(fields.protocol)
  const formats = text(fields.payloads)
  const port = integer(fields.port, 0, 65_535)
  if (!media || !protocol || formats === undefined || port === undefined)
    throw fault(`m-line ${index + 1}: media, port, protocol and formats expected`)
  return { media, protocol, formats }
}

const readAudio = (session: Fields, candidate: Candidate): RemoteAudio => {
  const { fields: audio, index, profile } = candidate
  const where = `m-line ${index + 1}`
  const { address, onHold } = readAddress(object(audio.connection ?? session.connection), where)
  const formats = readFormats(audio, where)
  const codecs = readCodecs(audio, formats)
  if (codecs.length === 0) throw noCodec(formats)
  const noise = formats.find(({ name }) => name === comfortNoise.name)?.payloadType
  const rtcp = object(audio.rtcp)
  const rtcpPort = integer(rtcp.port, 1, 65_535)
  const rtcpAddress = text(rtcp.address)
  const ssrcs = readSources(audio)
  const ptime = integer(audio.ptime, 1, 200)
  const maxptime = integer(audio.maxptime, 1, 200)
  const stated = directions.find((known) => known === (audio.direction ?? session.direction)) ?? 'sendrecv'
  return {
    index,
    profile,
    crypto: readKeys(candidate.text, where),
    address,
    port: integer(audio.port, 1, 65_535) ?? 0,
    ...(rtcpPort !== undefined && { rtcpPort }),
    ...(rtcpAddress !== undefined && isIP(rtcpAddress) !== 0 && { rtcpAddress }),
    ...(ssrcs.length > 0 && { ssrcs }),
    ...(audio.rtcpMux !== undefined && { rtcpMux: true }),
    codecs,
    formats,
    telephoneEvents: formats.flatMap(eventsOf),
    ...(noise !== undefined && { comfortNoise: noise }),
    ...(ptime !== undefined && { ptime }),
    ...(maxptime !== undefined && { maxptime }),
    direction: onHold ? withoutReceiving(stated) : stated,
  }
}

/** Returns each SSRC once. A list that is too long is ignored: no source can be distinguished by it. */
const readSources = (audio: Fields): readonly number[] => {
  const ids = list(audio.ssrcs).map(({ id }) => integer(Number(id), 0, 0xffffffff))
  const ssrcs = [...new Set(ids.filter((id) => id !== undefined))]
  return ssrcs.length > maxSources ? [] : ssrcs
}

const noCodec = (formats: readonly Format[]): TrunklineError => {
  const offered = formats.map(({ name }) => printable(name, 32))
  return new TrunklineError('no_common_codec', `Offered: ${offered.join(', ')}.`, { offered })
}

// Keys are read from the text, as `sdp-transform` keeps only a part of each line. The line holds a secret: no
// error repeats it.
const readKeys = (media: string, where: string): readonly CryptoLine[] => {
  const values = [...media.matchAll(/^a=crypto:(.*?)\r?$/gm)].map(([, value = '']) => value)
  if (values.length > maxCryptoLines) throw fault(`${where}: at most ${maxCryptoLines} a=crypto expected`)
  return values.flatMap((value) => {
    const line = readCrypto(value)
    if (line === 'malformed')
      throw fault(`${where}: a=crypto with tag, suite and inline key expected (RFC 4568)`)
    return line === undefined ? [] : [line]
  })
}

// The peer has no address, so it cannot receive, even if its direction says so.
const withoutReceiving = (stated: Direction): Direction =>
  stated === 'sendrecv' || stated === 'sendonly' ? 'sendonly' : 'inactive'

const readAddress = (connection: Fields, where: string): { address: string | undefined; onHold: boolean } => {
  const ip = text(connection.ip)
  if (ip === undefined) throw fault(`${where}: a c= line expected`)
  if (isIP(ip) !== connection.version)
    throw fault(`${where}: an IP address expected in c=`, { found: printable(ip, 64) })
  if (ip === '0.0.0.0' || /^[0:]+$/.test(ip)) return { address: undefined, onHold: true }
  if (/^(22[4-9]|23\d|255)\.|^ff[0-9a-f]{2}:/i.test(ip))
    throw fault(`${where}: the address of one host expected in c=`, { found: ip })
  return { address: ip, onHold: false }
}

const readFormats = (audio: Fields, where: string): readonly Format[] => {
  const words = (text(audio.payloads) ?? '').split(/\s+/).filter((word) => word !== '')
  if (words.length > maxFormats) throw fault(`${where}: at most ${maxFormats} formats expected`)
  const maps = list(audio.rtp)
  return words.map((word) => {
    const payloadType = /^\d{1,3}$/.test(word) ? Number(word) : 128
    if (payloadType > 127) throw fault(`${where}: payload types from 0 to 127 expected`)
    const map = maps.find((line) => line.payload === payloadType)
    const channels = integer(map?.encoding, 2, 8)
    const mapped =
      map && `${text(map.codec)?.toUpperCase()}/${text(map.rate)}${channels ? `/${channels}` : ''}`
    return { payloadType, name: mapped ?? staticFormats[payloadType] ?? String(payloadType) }
  })
}

const readCodecs = (audio: Fields, formats: readonly Format[]): readonly RemoteCodec[] =>
  formats.flatMap(({ payloadType, name }): RemoteCodec[] => {
    const codec = codecNamed(name)
    if (codec !== 'opus') return codec ? [{ codec, payloadType }] : []
    const parameters = text(list(audio.fmtp).find(({ payload }) => payload === payloadType)?.config) ?? ''
    const shortestMs = minOpusPacketMs(parameters)
    const opus = readOpusParameters(parameters)
    return [{ codec, payloadType, opus, ...(shortestMs !== undefined && { minPacketMs: shortestMs }) }]
  })

const eventsOf = ({ payloadType, name }: Format): readonly EventFormat[] => {
  const clockRate = Number(/^TELEPHONE-EVENT\/(\d{1,6})$/.exec(name)?.[1] ?? 0)
  return clockRate >= 8_000 ? [{ payloadType, clockRate }] : []
}

const label = ({ media, protocol }: Section): string => printable(`${media} ${protocol}`, 48)

const fault = (expected: string, facts: Record<string, unknown> = {}): TrunklineError =>
  new TrunklineError('bad_sdp', `SDP: ${expected}.`, { expected, ...facts })
