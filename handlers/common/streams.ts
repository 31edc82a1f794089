import type { StreamOptions } from '../verbs.ts'

/** Codecs of a WebSocket's audio, as documents write them; others of the family are not there. */
export const streamFormats: Readonly<Record<string, Pick<StreamOptions, 'codec' | 'sampleRate'>>> = {
  PCMU: { codec: 'PCMU' },
  'PCMU@8000h': { codec: 'PCMU' },
  L16: { codec: 'L16', sampleRate: 16_000 },
  'L16@16000h': { codec: 'L16', sampleRate: 16_000 },
  'L16@8000h': { codec: 'L16', sampleRate: 8000 },
}

/** Whose audio a WebSocket is given, as documents write it. */
export const streamTracks = {
  inbound_track: 'inbound',
  outbound_track: 'outbound',
  both_tracks: 'both',
} as const
