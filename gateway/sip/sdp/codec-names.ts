import { codecInfo } from '../../../media/codecs/codec-info.ts'
import type { AudioCodec } from '../../../media/types.ts'

const codecs = Object.keys(codecInfo) as AudioCodec[]

/**
 * Returns a codec for `a=rtpmap`: name and clock rate. For Opus always two channels, even for mono (RFC 7587
 * section 7).
 */
export const rtpmapOf = (codec: AudioCodec): string =>
  `${codec}/${codecInfo[codec].clockRate}${codec === 'opus' ? '/2' : ''}`

/** Returns the name of {@link rtpmapOf} in upper case, for comparisons. */
export const formatName = (codec: AudioCodec): string => rtpmapOf(codec).toUpperCase()

/**
 * Returns the codec with a name, given in upper case; undefined if the name is unknown. Some peers write Opus
 * without its channels.
 */
export const codecNamed = (name: string): AudioCodec | undefined =>
  codecs.find((codec) => name === formatName(codec) || (codec === 'opus' && name === 'OPUS/48000'))

/** Comfort noise of codecs with a clock of 8 kHz, and its payload type (RFC 3551 table 4). */
export const comfortNoise = { name: 'CN/8000', payloadType: 13 } as const

/** Returns the name of telephone-event with one clock rate. */
export const eventsName = (clockRate: number): string => `TELEPHONE-EVENT/${clockRate}`

/** Names of static payload types (RFC 3551 table 4). */
export const staticFormats: Readonly<Record<number, string>> = {
  0: 'PCMU/8000',
  8: 'PCMA/8000',
  9: 'G722/8000',
  [comfortNoise.payloadType]: comfortNoise.name,
  18: 'G729/8000',
}
