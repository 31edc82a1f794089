import { codecFacts } from '../../codecs/facts.ts'
import { ownOpusParameters, readOpusParameters } from '../../codecs/opus-parameters.ts'
import type { AudioCodec, OpusWishes } from '../../types.ts'
import { WebRtcError } from '../errors.ts'
import { fault } from './fields.ts'
import type { Format, MediaSection, RefusedSection, Section, SessionDescription } from './session.ts'

/** Codecs that browsers have. */
export type BrowserCodec = Exclude<AudioCodec, 'L16'>

/** The audio of a session: its codec, and the number that it has in both directions. */
export interface AudioFormat {
  readonly codec: BrowserCodec
  readonly payloadType: number
  /** What the browser says of its Opus decoder; absent: nothing yet. */
  readonly opus?: OpusWishes
}

/** Payload types in our own offers: RFC 3551 table 4, and the usual one of Opus. */
const usual: Readonly<Record<BrowserCodec, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 111 }

/** A codec as our own offers have it. What browsers do not have becomes Opus. */
export const ownFormat = (codec: AudioCodec): AudioFormat => {
  const known = codec === 'L16' ? 'opus' : codec
  return { codec: known, payloadType: usual[known] }
}

/** The audio codec's format as our descriptions write it. */
export const formatOf = ({ codec, payloadType }: AudioFormat): Format => ({
  payloadType,
  name: codec,
  clockRate: codecFacts[codec].clockRate,
  // There are always said to be two, however many there are (RFC 7587 section 7).
  ...(codec === 'opus' && { channels: 2 }),
  parameters: codec === 'opus' ? ownOpusParameters : '',
})

/** How one m-line of an offer is going to be answered. */
export type Plan =
  | { readonly kind: 'audio'; readonly section: MediaSection; readonly audio: AudioFormat }
  | { readonly kind: 'video'; readonly section: MediaSection; readonly formats: readonly Format[] }
  | RefusedSection

/**
 * Decides on every m-line of an offer, in its order (RFC 3264 section 6). The first audio m-line that can be used is ours; video
 * keeps the formats that the router knows; all else is refused. Throws `bad_sdp` where there is no audio m-line, and
 * `no_common_codec` where it has none of `codecs`, of which the first that is offered is taken.
 */
export const planAnswer = (offer: SessionDescription, codecs: readonly AudioCodec[]): readonly Plan[] => {
  const audio = offer.sections.find((section): section is MediaSection => section.kind === 'audio')
  if (!audio) throw fault('session', 'an audio m-line that is in use expected')
  return offer.sections.map((section): Plan => {
    if (section === audio) return { kind: 'audio', section, audio: commonCodec(section, codecs) }
    if (section.kind === 'video') return planVideo(section)
    return section.kind === 'refused' ? section : refusal(section)
  })
}

/** The first of `codecs` that the m-line has, with the number that it has there. Throws `no_common_codec`. */
export const commonCodec = (section: MediaSection, codecs: readonly AudioCodec[]): AudioFormat => {
  for (const codec of codecs) {
    const format = codec === 'L16' ? undefined : section.formats.find((each) => isCodec(each, codec))
    if (codec === 'L16' || !format) continue
    const { payloadType, parameters } = format
    return { codec, payloadType, ...(codec === 'opus' && { opus: readOpusParameters(parameters) }) }
  }
  const offered = section.formats.map((format) => format.name).join(', ')
  throw new WebRtcError('no_common_codec', `SDP: one of ${codecs.join(', ')} expected, found ${offered}`)
}

const isCodec = ({ payloadType, name, clockRate }: Format, codec: BrowserCodec): boolean =>
  name.toUpperCase() === codec.toUpperCase() &&
  clockRate === codecFacts[codec].clockRate &&
  (codec === 'opus' ? isDynamic(payloadType) : payloadType === usual[codec])

// With RTCP on the same port 64 to 95 could be taken for it (RFC 5761 section 4).
const isDynamic = (payloadType: number): boolean =>
  (payloadType >= 35 && payloadType < 64) || (payloadType >= 96 && payloadType <= 127)

const planVideo = (section: MediaSection): Plan => {
  const formats = section.formats.filter(isRouterVideo)
  return formats.length > 0 ? { kind: 'video', section, formats } : refusal(section)
}

// H.264 goes through the router only in packetization mode 1 (RFC 6184 section 6.3).
const isRouterVideo = (format: Format): boolean => {
  const name = format.name.toUpperCase()
  return name === 'VP8' || (name === 'H264' && /(^|;)\s*packetization-mode=1\s*(;|$)/.test(format.parameters))
}

const refusal = (section: MediaSection): RefusedSection => ({
  kind: 'refused',
  media: section.kind,
  mid: section.mid,
  protocol: section.protocol,
  formats: section.formats.map((format) => format.payloadType).join(' '),
})

/**
 * Checks that a later offer of the same session keeps what was agreed: no fewer m-lines, and at each place the same type, and
 * the same mid while it is in use (RFC 3264 section 8, RFC 8829 section 5.2.2). Throws `bad_sdp`.
 */
export const checkSuccession = (before: readonly Section[], after: readonly Section[]): void => {
  if (after.length < before.length)
    throw fault('session', `at least ${before.length} m-lines expected, found ${after.length}`)
  for (const [index, old] of before.entries()) {
    const now = after[index]
    if (!now || old.kind === 'refused' || now.kind === 'refused') continue
    const where = `m-line ${index + 1}`
    if (now.kind !== old.kind) throw fault(where, `${old.kind} expected, found ${now.kind}`)
    if (now.mid !== old.mid) throw fault(where, `a=mid:${old.mid} expected`)
  }
}
