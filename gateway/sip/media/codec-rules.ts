import { codecInfo } from '../../../media/codecs/codec-info.ts'
import type { AudioCodec, NearEnd } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { printable } from '../headers.ts'
import { comfortNoise } from '../sdp/codec-names.ts'
import type {
  EventFormat,
  LocalAudio,
  RemoteAudio,
  RemoteCodec,
  RemoteDescription,
} from '../sdp/sdp-description.ts'

/** Codecs for a peer, and their parameters. */
export interface CodecRules {
  /** Codecs that are offered and accepted, in order of preference; never empty. */
  readonly codecs: readonly AudioCodec[]
  /** Requested packet duration, and the default for sending, in ms. */
  readonly ptimeMs: number
  /** Comfort noise is offered; it is accepted in any case. */
  readonly comfortNoise: boolean
}

/** Formats that the peer may send. */
export type ReceivedFormats = Pick<LocalAudio, 'codecs' | 'telephoneEvents' | 'comfortNoise'>

/** Default rules: the codecs of every telephone network. */
export const plainCodecs: CodecRules = { codecs: ['PCMU', 'PCMA'], ptimeMs: 20, comfortNoise: false }

/** Returns `codecs` with the codecs of `first` in front, in the order of `first`. */
export const preferring = (
  codecs: readonly AudioCodec[],
  first: readonly (AudioCodec | undefined)[],
): readonly AudioCodec[] => {
  const wanted = first.filter((codec) => codec !== undefined && codecs.includes(codec)) as AudioCodec[]
  return [...new Set([...wanted, ...codecs])]
}

/** Returns a description with permitted codecs only. Throws `no_common_codec` if none is left. */
export const permitted = (remote: RemoteDescription, codecs: readonly AudioCodec[]): RemoteDescription => {
  const audios = remote.audios.map((audio) => ({
    ...audio,
    codecs: audio.codecs.filter(({ codec }) => codecs.includes(codec)),
  }))
  const [audio, ...more] = audios.filter((each) => each.codecs.length > 0)
  if (!audio) throw noCommonCodec(remote.audios, codecs)
  return { ...remote, audios: [audio, ...more] }
}

/** Returns an answer with offered formats only. Throws `no_common_codec` if no codec is left. */
export const offeredOnly = (audio: RemoteAudio, said: LocalAudio): RemoteAudio => {
  const { comfortNoise: noise, ...rest } = audio
  const codecs = audio.codecs.filter(({ codec }) => said.codecs.some((ours) => ours.codec === codec))
  if (codecs.length === 0)
    throw noCommonCodec(
      [audio],
      said.codecs.map(({ codec }) => codec),
    )
  return {
    ...rest,
    codecs,
    telephoneEvents: withRatesOf(audio.telephoneEvents, said.telephoneEvents),
    ...(noise !== undefined && said.comfortNoise !== undefined && { comfortNoise: noise }),
  }
}

/**
 * Returns the formats to receive after an answer to a local offer. These are the agreed formats under the
 * local payload types (RFC 3264 section 6.1), and under those of the answer that are free. An answerer may
 * choose its own payload types for receiving (section 5.1), and some also send with them.
 */
export const receivedAfterAnswer = (audio: RemoteAudio, said: LocalAudio): ReceivedFormats => {
  const codecs = said.codecs.filter(({ codec }) => audio.codecs.some((other) => other.codec === codec))
  const telephoneEvents = withRatesOf(said.telephoneEvents, audio.telephoneEvents)
  const noise = audio.comfortNoise === undefined ? undefined : said.comfortNoise
  const ours = new Set([...codecs, ...telephoneEvents].map(({ payloadType }) => payloadType))
  if (noise !== undefined) ours.add(noise)
  const isTheirs = ({ payloadType }: { readonly payloadType: number }): boolean => !ours.has(payloadType)
  // The static payload type of RFC 3551 always means comfort noise, so the peer's payload type can be added.
  const theirNoise = noise === comfortNoise.payloadType ? audio.comfortNoise : undefined
  const heardNoise = theirNoise !== undefined && !ours.has(theirNoise) ? theirNoise : noise
  return {
    codecs: [...codecs, ...audio.codecs.filter(isTheirs)],
    telephoneEvents: [...telephoneEvents, ...audio.telephoneEvents.filter(isTheirs)],
    ...(heardNoise !== undefined && { comfortNoise: heardNoise }),
  }
}

/** Returns the formats of `events` with a clock rate that `others` has, too. */
const withRatesOf = (
  events: readonly EventFormat[],
  others: readonly EventFormat[],
): readonly EventFormat[] =>
  events.filter(({ clockRate }) => others.some((other) => other.clockRate === clockRate))

/**
 * Returns the telephone-event for a codec, by the codec's clock rate (RFC 4733 section 2.1). The default is
 * telephone-event of 8 kHz, which some peers use with every codec.
 */
export const eventsBeside = (codec: AudioCodec, events: readonly EventFormat[]): EventFormat | undefined =>
  events.find(({ clockRate }) => clockRate === codecInfo[codec].clockRate) ??
  events.find(({ clockRate }) => clockRate === 8000)

/** Returns the clock rates of telephone-event for an offer of these codecs. */
export const eventRates = (codecs: readonly AudioCodec[]): readonly number[] => [
  ...new Set([8000, ...codecs.map((codec) => codecInfo[codec].clockRate)]),
]

/**
 * Whether comfort noise can be used with the codec: both need the same clock rate, and Opus has a mode of its
 * own.
 */
export const hasNoise = (codec: AudioCodec): boolean => codecInfo[codec].clockRate === 8000

/** Returns the receive formats in the form that a port expects. */
export const nearEnd = ({
  codecs,
  telephoneEvents: events,
  comfortNoise: noise,
}: ReceivedFormats): NearEnd => {
  const usual = events.find(({ clockRate }) => clockRate === 8000)
  const others = events.filter((each) => each !== usual)
  return {
    codecs: codecs.map(({ codec, payloadType }) => ({ codec, payloadType })),
    ...(usual && { telephoneEvent: usual.payloadType }),
    ...(others.length > 0 && { telephoneEvents: others }),
    ...(noise !== undefined && noise !== comfortNoise.payloadType && { comfortNoise: noise }),
  }
}

/** Returns the packet duration to send with, in ms: the peer's request, within the limits of both sides. */
export const packetTime = (
  { ptime, maxptime = 60 }: Pick<RemoteAudio, 'ptime' | 'maxptime'>,
  { minPacketMs = 10 }: Pick<RemoteCodec, 'minPacketMs'>,
  usualMs: number,
): number => {
  const maxMs = Math.min(60, inTens(maxptime))
  const minMs = Math.min(maxMs, Math.ceil(minPacketMs / 10) * 10)
  return Math.max(minMs, Math.min(maxMs, inTens(ptime ?? usualMs)))
}

const inTens = (ms: number): number => Math.max(10, Math.floor(ms / 10) * 10)

const noCommonCodec = (audios: readonly RemoteAudio[], codecs: readonly AudioCodec[]): TrunklineError => {
  const offered = audios.flatMap(({ formats }) => formats.map(({ name }) => printable(name, 32)))
  return new TrunklineError(
    'no_common_codec',
    `Offered: ${offered.join(', ')}. Permitted here: ${codecs.join(', ')}.`,
    { offered, permitted: codecs },
  )
}
