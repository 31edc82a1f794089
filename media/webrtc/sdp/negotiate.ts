import { codecInfo } from '../../codecs/codec-info.ts'
import { ownOpusParameters, readOpusParameters } from '../../codecs/opus-parameters.ts'
import type { AudioCodec, OpusPreferences } from '../../types.ts'
import { WebRtcError } from '../errors.ts'
import { isDynamic } from './payload-types.ts'
import { fault } from './sdp-fault.ts'
import {
  type Format,
  type MediaSection,
  midUri,
  type RefusedSection,
  receives,
  type Section,
  type SessionDescription,
  type Simulcast,
  sends,
} from './session-description.ts'
import { type VideoFormat, videoOf } from './video-format.ts'

/** Codecs that browsers support. */
export type BrowserCodec = Exclude<AudioCodec, 'L16'>

/** Audio of a session: its codec, with the same payload type in both directions. */
export interface AudioFormat {
  readonly codec: BrowserCodec
  readonly payloadType: number
  /** Opus preferences of the browser; absent before its description. */
  readonly opus?: OpusPreferences
  /**
   * Telephone-event formats (RFC 4733): one of 8 kHz, and with Opus one of 48 kHz, in this order; empty if
   * the browser has none.
   */
  readonly events: readonly TelephoneEventFormat[]
}

/** Telephone-event format, with the same payload type in both directions. */
export interface TelephoneEventFormat {
  readonly payloadType: number
  readonly clockRate: 8000 | 48_000
}

/** Telephone-event formats in local offers, with the payload types that browsers use. */
const ownEvents: readonly TelephoneEventFormat[] = [
  { payloadType: 126, clockRate: 8000 },
  { payloadType: 110, clockRate: 48_000 },
]

/**
 * Returns the clock rates of telephone-events beside a codec: the codec's own (RFC 4733 section 2.1), and 8
 * kHz, the only one in some browsers.
 */
const eventRates = (codec: BrowserCodec): readonly TelephoneEventFormat['clockRate'][] =>
  codec === 'opus' ? [8000, 48_000] : [8000]

/** Returns the telephone-event format to send beside the codec; undefined without one. */
export const eventsBeside = ({
  codec,
  events,
}: Pick<AudioFormat, 'codec' | 'events'>): TelephoneEventFormat | undefined =>
  events.find(({ clockRate }) => clockRate === codecInfo[codec].clockRate) ?? events[0]

/** Payload types in local offers: the static types of RFC 3551 table 4, and the usual type for Opus. */
const defaultPayloadTypes: Readonly<Record<BrowserCodec, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 111 }

/** Returns a codec's format in local offers. A codec that browsers lack becomes Opus. */
export const ownFormat = (codec: AudioCodec): AudioFormat => {
  const known = codec === 'L16' ? 'opus' : codec
  const events = ownEvents.filter(({ clockRate }) => eventRates(known).includes(clockRate))
  return { codec: known, payloadType: defaultPayloadTypes[known], events }
}

/** Returns the formats of the audio for a local description: the codec, and telephone-events. */
export const formatsOf = (audio: AudioFormat): readonly Format[] => [
  formatOf(audio),
  ...audio.events.map((events) => ({ ...events, name: 'telephone-event', parameters: '0-15' })),
]

const formatOf = ({ codec, payloadType }: AudioFormat): Format => ({
  payloadType,
  name: codec,
  clockRate: codecInfo[codec].clockRate,
  // The channel count is always 2 (RFC 7587 section 7).
  ...(codec === 'opus' && { channels: 2 }),
  parameters: codec === 'opus' ? ownOpusParameters : '',
})

/** Answer planned for one m-line of an offer. */
export type Plan = UsedPlan | RefusedSection

/** Plan of an m-line that gets a transport. */
export type UsedPlan =
  | { readonly kind: 'audio'; readonly section: MediaSection; readonly audio: AudioFormat }
  | VideoPlan

/** Plan of a video m-line. */
export interface VideoPlan {
  readonly kind: 'video'
  readonly section: MediaSection
  readonly video: VideoFormat
  /** Whether video is sent over this m-line. False: an additional m-line, answered as inactive. */
  readonly isUsed: boolean
  /** Encodings that the browser sends at once; absent for one. Nothing is sent to such an m-line. */
  readonly simulcast?: Simulcast
}

/**
 * Plans the answer to every m-line of an offer, in order (RFC 3264 section 6). The first usable audio m-line
 * and the first video m-line that is not inactive are used. If that one does not receive, the first further
 * one that does is used, too. All others are rejected. `video`: whether video is accepted at all; default
 * true.
 *
 * Throws `bad_sdp` without an audio m-line or for an unidentifiable stream. Throws `no_common_codec` if no
 * codec of `codecs` is offered; the first one offered is used.
 */
export const planAnswer = (
  offer: SessionDescription,
  codecs: readonly AudioCodec[],
  video = true,
): readonly Plan[] => {
  const audio = offer.sections.find((section): section is MediaSection => section.kind === 'audio')
  if (!audio) throw fault('session', 'an audio m-line that is in use expected')
  const videos = video ? videosOf(offer) : noVideos
  return offer.sections.map(
    (section): Plan =>
      section === audio ? planAudio(audio, commonCodec(audio, codecs)) : planOther(section, videos),
  )
}

/**
 * Plans the answer to every m-line of an offer that only sends: a shared screen, a second camera or
 * microphone. `codecs`: audio codecs; empty: audio is rejected. Throws `bad_sdp` without video and sound, or
 * if a stream is unidentifiable, and `no_common_codec` if no format is supported.
 */
export const planSource = (offer: SessionDescription, codecs: readonly AudioCodec[]): readonly Plan[] => {
  const videos = videosOf(offer)
  const isSent = (section: Section | undefined): section is MediaSection =>
    section !== undefined && section.kind !== 'refused' && sends(section.direction)
  const audio =
    codecs.length > 0 ? offer.sections.find((each) => each.kind === 'audio' && isSent(each)) : undefined
  const [video] = videos.all
  // Without sound, an inactive video stands for one that has paused.
  const isPaused = video?.direction === 'inactive'
  const hasVideo = video !== undefined && (isPaused ? !isSent(audio) : isSent(video))
  if (!hasVideo && !isSent(audio)) throw fault('session', 'video or audio that is sent expected')
  const plans = offer.sections.map((section) => {
    if (section !== audio || !isSent(section)) return planOther(section, videos)
    // Sound in an unknown codec is no reason to reject the video.
    return hasVideo && !hasCodec(section, codecs)
      ? refusal(section)
      : planAudio(section, commonCodec(section, codecs))
  })
  if (!hasVideo || plans.some((plan) => plan.kind === 'video' && plan.isUsed)) return plans
  const offered = video.formats.map((format) => format.name).join(', ')
  throw new WebRtcError('no_common_codec', `SDP: one of VP8, H264 expected, found ${offered}`)
}

/**
 * Maximum number of video m-lines per session, each of which has a transport. Sufficient for repeated removal
 * and addition of video.
 */
const maxVideos = 4

/** Video m-lines of an offer that get a transport, the used ones first. */
interface Videos {
  readonly all: readonly MediaSection[]
  readonly used: readonly MediaSection[]
}

const noVideos: Videos = { all: [], used: [] }

const videosOf = ({ sections }: SessionDescription): Videos => {
  const all = sections.filter((section): section is MediaSection => section.kind === 'video')
  // A browser that removed its video may add it again with a further m-line, while the first m-line stays
  // inactive.
  const main = all.find(({ direction }) => direction !== 'inactive') ?? all[0]
  if (!main) return noVideos
  const isViewNeeded = !receives(main.direction) || simulcastOf(main) !== undefined
  const view = isViewNeeded
    ? all.find((section) => section !== main && section.direction === 'recvonly')
    : undefined
  const used = view ? [main, view] : [main]
  return { used, all: [...used, ...all.filter((section) => !used.includes(section))].slice(0, maxVideos) }
}

const planOther = (section: Section, { all, used }: Videos): Plan => {
  if (section.kind === 'refused') return section
  const video = all.includes(section) ? videoOf(section) : undefined
  return video ? planVideo(section, video, used.includes(section)) : refusal(section)
}

/** Returns the usable simulcast of an m-line: streams in VP8 that the browser sends. */
const simulcastOf = (section: MediaSection): Simulcast | undefined =>
  sends(section.direction) && section.midExtension !== undefined && videoOf(section)?.name === 'VP8'
    ? section.simulcast
    : undefined

/** Returns the plan of the audio. Throws `bad_sdp` for an unidentifiable stream. */
export const planAudio = (section: MediaSection, audio: AudioFormat): Plan => {
  checkSource(section)
  return { kind: 'audio', section, audio }
}

/** Returns the plan of video. Throws `bad_sdp` for a used but unidentifiable stream. */
export const planVideo = (section: MediaSection, video: VideoFormat, used: boolean): VideoPlan => {
  if (used) checkSource(section)
  const simulcast = used ? simulcastOf(section) : undefined
  return { kind: 'video', section, video, isUsed: used, ...(simulcast && { simulcast }) }
}

const checkSource = ({ direction, mid, ssrc, midExtension }: MediaSection): void => {
  if (sends(direction) && ssrc === undefined && midExtension === undefined)
    throw fault(`a=mid:${mid}`, `a=ssrc, or a=extmap with ${midUri}, expected`)
}

/**
 * Returns the first of `codecs` that the m-line offers, with its payload type there. Throws
 * `no_common_codec`.
 */
export const commonCodec = (section: MediaSection, codecs: readonly AudioCodec[]): AudioFormat => {
  for (const codec of codecs) {
    const format = codec === 'L16' ? undefined : section.formats.find((each) => isCodec(each, codec))
    if (codec === 'L16' || !format) continue
    const { payloadType, parameters } = format
    const opus = codec === 'opus' && { opus: readOpusParameters(parameters) }
    return { codec, payloadType, ...opus, events: eventsIn(section, codec) }
  }
  const offered = section.formats.map((format) => format.name).join(', ')
  throw new WebRtcError('no_common_codec', `SDP: one of ${codecs.join(', ')} expected, found ${offered}`)
}

/** Returns the m-line's telephone-event formats beside a codec: the first of each clock rate. */
const eventsIn = ({ formats }: MediaSection, codec: BrowserCodec): readonly TelephoneEventFormat[] =>
  eventRates(codec).flatMap((clockRate) => {
    const isEvents = ({ name, ...format }: Format): boolean =>
      /^telephone-event$/i.test(name) && format.clockRate === clockRate && isDynamic(format.payloadType)
    const found = formats.find(isEvents)
    return found ? [{ payloadType: found.payloadType, clockRate }] : []
  })

const hasCodec = ({ formats }: MediaSection, codecs: readonly AudioCodec[]): boolean =>
  codecs.some((codec) => codec !== 'L16' && formats.some((format) => isCodec(format, codec)))

const isCodec = ({ payloadType, name, clockRate }: Format, codec: BrowserCodec): boolean =>
  name.toUpperCase() === codec.toUpperCase() &&
  clockRate === codecInfo[codec].clockRate &&
  (codec === 'opus' ? isDynamic(payloadType) : payloadType === defaultPayloadTypes[codec])

/**
 * Returns a plan with the audio format of the session. It keeps its payload type (RFC 3264 section 8.3.2),
 * because the router requires the same number in both directions. Throws `bad_sdp` for another one.
 */
export const withFormat = (plan: Plan, { codec, payloadType, events }: AudioFormat): Plan => {
  if (plan.kind !== 'audio') return plan
  if (plan.audio.payloadType !== payloadType)
    throw new WebRtcError('bad_sdp', `SDP: ${codec} with payload type ${payloadType} expected`)
  const isKnown = (event: TelephoneEventFormat): boolean =>
    events.some((known) => known.payloadType === event.payloadType && known.clockRate === event.clockRate)
  return { ...plan, audio: { ...plan.audio, events: plan.audio.events.filter(isKnown) } }
}

/** Returns the rejection of an m-line, with port 0. */
export const refusal = (section: MediaSection): RefusedSection => ({
  kind: 'refused',
  media: section.kind,
  mid: section.mid,
  protocol: section.protocol,
  formats: section.formats.map((format) => format.payloadType).join(' '),
})

/**
 * Checks that a later offer of the session keeps what was agreed. It must have at least as many m-lines. Each
 * must have the same type and, while in use, the same mid (RFC 3264 section 8, RFC 8829 section 5.2.2).
 * Throws `bad_sdp`.
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
