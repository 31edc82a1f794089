import type { StreamOptions } from '../verbs.ts'

/** Audio format of a WebSocket stream. */
export type StreamFormat = Pick<StreamOptions, 'codec' | 'sampleRate' | 'packetMs'>

/** Description of the formats, for messages. */
export const streamFormats =
  'PCMU, PCMA, G722 or L16, optionally with a rate (L16@24000h) and the length of a message in ms (@40i)'

/**
 * Pattern of the formats, such as `L16@24000h@40i`: 8,000, 16,000, 24,000 or 48,000 Hz for L16, and 20 to 120
 * ms in steps of 20. The rate of G722 is its RTP clock rate or its sampling rate (RFC 3551 section 4.5.2).
 */
export const streamFormatPattern =
  '^((PCMU|PCMA)(@8000h)?|G722(@(8000|16000)h)?|L16(@(8000|16000|24000|48000)h)?)(@(20|40|60|80|100|120)i)?$'

/** Reads a format. Undefined if it is invalid. The default rate of L16 is 16,000 Hz. */
export const readStreamFormat = (text: string): StreamFormat | undefined => {
  if (!new RegExp(streamFormatPattern).test(text)) return undefined
  const [, codec] = /^(PCMU|PCMA|G722|L16)/.exec(text) ?? []
  const [, rate = '16000'] = /@(\d+)h/.exec(text) ?? []
  const [, packetMs] = /@(\d+)i/.exec(text) ?? []
  return {
    codec: codec as StreamFormat['codec'],
    ...(codec === 'L16' && { sampleRate: Number(rate) as StreamFormat['sampleRate'] }),
    ...(packetMs !== undefined && { packetMs: Number(packetMs) }),
  }
}

/** Tracks of a WebSocket stream, by their words in documents. */
export const streamTracks = {
  inbound_track: 'inbound',
  outbound_track: 'outbound',
  both_tracks: 'both',
} as const
