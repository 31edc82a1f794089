import { toWire } from './wire.ts'

/** Something to play. Durations are seconds. */
export type Sound =
  /** Text that is spoken. */
  | { readonly type: 'tts'; readonly text: string; readonly voice?: string; readonly language?: string }
  /** Audio of an HTTP(S) URL: WAV, AIFF, MP3 or Ogg with Opus. */
  | { readonly type: 'audio'; readonly url: string }
  | { readonly type: 'silence'; readonly duration: number }
  /** Ringing tone of a country, for instance `us`; without `duration` until it is stopped. */
  | { readonly type: 'ringtone'; readonly name: string; readonly duration?: number }

/** Sounds as the gateway reads them. */
export const soundsToWire = (sounds: readonly Sound[]): unknown[] =>
  sounds.map(({ type, ...params }) => ({ type, params: toWire(params) }))
