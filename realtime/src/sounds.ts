import { toWire } from './wire.ts'

/** Sound to play. Durations are in seconds. */
export type Sound =
  /** Text to speak. */
  | { readonly type: 'tts'; readonly text: string; readonly voice?: string; readonly language?: string }
  /** Audio from an HTTP(S) URL: WAV, AIFF, MP3 or Ogg with Opus. */
  | { readonly type: 'audio'; readonly url: string }
  | { readonly type: 'silence'; readonly duration: number }
  /** Ringing tone of a country, for example `us`; without `duration` it plays until stopped. */
  | { readonly type: 'ringtone'; readonly name: string; readonly duration?: number }

/** Converts sounds to the gateway's format. */
export const soundsToWire = (sounds: readonly Sound[]): unknown[] =>
  sounds.map(({ type, ...params }) => ({ type, params: toWire(params) }))
