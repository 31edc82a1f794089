import { codecInfo } from '../../codecs/codec-info.ts'
import { ownOpusParameters, readOpusParameters } from '../../codecs/opus-parameters.ts'
import type { AudioCodec, OpusPreferences } from '../../types.ts'
import { WebRtcError } from '../errors.ts'
import { fault } from './fields.ts'
import { isDynamic } from './numbers.ts'
import {
  type Format,
  type MediaSection,
  midUri,
  type RefusedSection,
  type Section,
  type SessionDescription,
  sends,
} from './session.ts'
import { type VideoFormat, videoOf } from './video.ts'

/** Codecs that browsers have. */
export type BrowserCodec = Exclude<AudioCodec, 'L16'>

/** The audio of a session: its codec, and the number that it has in both directions. */
export interface AudioFormat {
  readonly codec: BrowserCodec
  readonly payloadType: number
  /** What the browser says of its Opus decoder; absent: nothing yet. */
  readonly opus?: OpusPreferences
  /** Formats of keys (RFC 4733): one of 8 kHz, and with Opus one of 48 kHz, in this order; empty where the browser has none. */
  readonly events: readonly BrowserEvents[]
}

/** A format of telephone-event, which has one number in both directions. */
export interface BrowserEvents {
  readonly payloadType: number
  readonly clockRate: 8000 | 48_000
}

/** Formats of keys in our own offers, numbered as browsers do. */
const ownEvents: readonly BrowserEvents[] = [
  { payloadType: 126, clockRate: 8000 },
  { payloadType: 110, clockRate: 48_000 },
]

/** Clock rates of keys beside a codec: its own (RFC 4733 section 2.1), and 8 kHz, which some browsers have alone. */
const eventRates = (codec: BrowserCodec): readonly BrowserEvents['clockRate'][] =>
  codec === 'opus' ? [8000, 48_000] : [8000]

/** Returns the format by which keys are sent beside the codec; undefined if there is none. */
export const eventsBeside = ({
  codec,
  events,
}: Pick<AudioFormat, 'codec' | 'events'>): BrowserEvents | undefined =>
  events.find(({ clockRate }) => clockRate === codecInfo[codec].clockRate) ?? events[0]

/** Payload types in our own offers: RFC 3551 table 4, and the usual one of Opus. */
const usual: Readonly<Record<BrowserCodec, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 111 }

/** A codec as our own offers have it. What browsers do not have becomes Opus. */
export const ownFormat = (codec: AudioCodec): AudioFormat => {
  const known = codec === 'L16' ? 'opus' : codec
  const events = ownEvents.filter(({ clockRate }) => eventRates(known).includes(clockRate))
  return { codec: known, payloadType: usual[known], events }
}

/** The formats of the audio as our descriptions write them: the codec, and keys. */
export const formatsOf = (audio: AudioFormat): readonly Format[] => [
  formatOf(audio),
  ...audio.events.map((events) => ({ ...events, name: 'telephone-event', parameters: '0-15' })),
]

const formatOf = ({ codec, payloadType }: AudioFormat): Format => ({
  payloadType,
  name: codec,
  clockRate: codecInfo[codec].clockRate,
  // There are always said to be two, however many there are (RFC 7587 section 7).
  ...(codec === 'opus' && { channels: 2 }),
  parameters: codec === 'opus' ? ownOpusParameters : '',
})

/** How one m-line of an offer is going to be answered. */
export type Plan = UsedPlan | RefusedSection

/** The plan of an m-line that gets a transport. */
export type UsedPlan =
  | { readonly kind: 'audio'; readonly section: MediaSection; readonly audio: AudioFormat }
  | VideoPlan

/** The plan of a video m-line. */
export interface VideoPlan {
  readonly kind: 'video'
  readonly section: MediaSection
  readonly video: VideoFormat
  /** Our video goes by it; false: it is one more than we use, and is answered as inactive. */
  readonly used: boolean
}

/**
 * Decides on every m-line of an offer, in its order (RFC 3264 section 6). The first audio m-line that can be used is ours, and the first
 * for video that is not inactive; all else is refused. Throws `bad_sdp` where there is no audio m-line, or a stream that cannot be told from
 * others, and `no_common_codec` where it has none of `codecs`, of which the first that is offered is taken. `video`: whether video is taken at
 * all; default true.
 */
export const planAnswer = (
  offer: SessionDescription,
  codecs: readonly AudioCodec[],
  video = true,
): readonly Plan[] => {
  const audio = offer.sections.find((section): section is MediaSection => section.kind === 'audio')
  if (!audio) throw fault('session', 'an audio m-line that is in use expected')
  const videos = video ? videosOf(offer) : []
  return offer.sections.map(
    (section): Plan =>
      section === audio ? planAudio(audio, commonCodec(audio, codecs)) : planOther(section, videos),
  )
}

/**
 * Decides on every m-line of the offer of a screen: video alone. Throws `bad_sdp` where none is offered, or its stream cannot be told from
 * others, and `no_common_codec` where it has no format that we know.
 */
export const planScreen = (offer: SessionDescription): readonly Plan[] => {
  const videos = videosOf(offer)
  const [video] = videos
  if (!video) throw fault('session', 'a video m-line that is in use expected')
  const plans = offer.sections.map((section) => planOther(section, videos))
  if (plans.some((plan) => plan.kind === 'video' && plan.used)) return plans
  const offered = video.formats.map((format) => format.name).join(', ')
  throw new WebRtcError('no_common_codec', `SDP: one of VP8, H264 expected, found ${offered}`)
}

/** Most video m-lines of a session, each of which has a transport: no page needs more, however often it gives its video up and takes it again. */
const mostVideos = 4

/** The video m-lines that get a transport, ours first. */
const videosOf = ({ sections }: SessionDescription): readonly MediaSection[] => {
  const all = sections.filter((section): section is MediaSection => section.kind === 'video')
  // A page that gave its video up and takes it again may do so with a further m-line: the first stays, and is inactive.
  const main = all.find(({ direction }) => direction !== 'inactive') ?? all[0]
  return main ? [main, ...all.filter((section) => section !== main)].slice(0, mostVideos) : []
}

const planOther = (section: Section, videos: readonly MediaSection[]): Plan => {
  if (section.kind === 'refused') return section
  const video = videos.includes(section) ? videoOf(section) : undefined
  return video ? planVideo(section, video, section === videos[0]) : refusal(section)
}

/** The plan of our audio. Throws `bad_sdp` where its stream cannot be told from others. */
export const planAudio = (section: MediaSection, audio: AudioFormat): Plan => {
  checkSource(section)
  return { kind: 'audio', section, audio }
}

/** The plan of video. Throws `bad_sdp` where it is used, and its stream cannot be told from others. */
export const planVideo = (section: MediaSection, video: VideoFormat, used: boolean): VideoPlan => {
  if (used) checkSource(section)
  return { kind: 'video', section, video, used }
}

const checkSource = ({ direction, mid, ssrc, midExtension }: MediaSection): void => {
  if (sends(direction) && ssrc === undefined && midExtension === undefined)
    throw fault(`a=mid:${mid}`, `a=ssrc, or a=extmap with ${midUri}, expected`)
}

/** The first of `codecs` that the m-line has, with the number that it has there. Throws `no_common_codec`. */
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

/** The formats of keys that the m-line has beside a codec: the first of each clock rate. */
const eventsIn = ({ formats }: MediaSection, codec: BrowserCodec): readonly BrowserEvents[] =>
  eventRates(codec).flatMap((clockRate) => {
    const isEvents = ({ name, ...format }: Format): boolean =>
      /^telephone-event$/i.test(name) && format.clockRate === clockRate && isDynamic(format.payloadType)
    const found = formats.find(isEvents)
    return found ? [{ payloadType: found.payloadType, clockRate }] : []
  })

const isCodec = ({ payloadType, name, clockRate }: Format, codec: BrowserCodec): boolean =>
  name.toUpperCase() === codec.toUpperCase() &&
  clockRate === codecInfo[codec].clockRate &&
  (codec === 'opus' ? isDynamic(payloadType) : payloadType === usual[codec])

/** The m-line answered with port 0. */
export const refusal = (section: MediaSection): RefusedSection => ({
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
