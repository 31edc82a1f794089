import type { StreamOptions } from '../verbs.ts'

/** How the audio of a WebSocket is written. */
export type StreamFormat = Pick<StreamOptions, 'codec' | 'sampleRate' | 'packetMs'>

/** The formats in words. */
export const streamFormats =
  'PCMU, PCMA, G722 or L16, with a rate (L16@24000h) and the length of a message in ms (@40i) behind it where they are others'

/**
 * The formats as documents write them, such as `L16@24000h@40i`: 8,000, 16,000, 24,000 or 48,000 Hz of L16, and 20 to 120 ms in steps of 20.
 * The rate of G722 is written as RTP counts it, or as it sounds (RFC 3551 section 4.5.2).
 */
export const streamFormatPattern =
  '^((PCMU|PCMA)(@8000h)?|G722(@(8000|16000)h)?|L16(@(8000|16000|24000|48000)h)?)(@(20|40|60|80|100|120)i)?$'

/** Reads a format; undefined for one that is not there. Without a rate, L16 has 16,000 Hz. */
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

/** Whose audio a WebSocket is given, as documents write it. */
export const streamTracks = {
  inbound_track: 'inbound',
  outbound_track: 'outbound',
  both_tracks: 'both',
} as const
