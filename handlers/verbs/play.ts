import type { Cancellable } from './cancel.ts'

/** Something that can be played to a call. */
export type Sound =
  /** Audio fetched over HTTP(S), or of the folder for sounds (`file:`); WAV, AIFF, MP3 or Ogg with Opus. */
  | { readonly kind: 'audio'; readonly url: string }
  /** Text to speak, which may hold SSML; voice and language fall back to the configured ones. */
  | {
      readonly kind: 'speech'
      readonly text: string
      readonly voice?: string
      readonly language?: string
      /** male or female: of the voice where none is named; anything else is warned of. */
      readonly gender?: string
    }
  | { readonly kind: 'silence'; readonly ms: number }
  /** Ringing tone of a country (ISO 3166 alpha-2, default `us`), for `ms` (default: until stopped). */
  | { readonly kind: 'ringtone'; readonly country?: string; readonly ms?: number }

/** How to play. */
export interface PlayOptions extends Cancellable {
  readonly sounds: readonly Sound[]
  /** −40 … 40 dB; default 0. */
  readonly volumeDb?: number
  /** How often the whole list is played; 0 means until stopped; default 1. */
  readonly loop?: number
  /** Answer first when the call is not answered yet (default); `false` plays as early media. */
  readonly autoAnswer?: boolean
}

/** How playing ended. `failed`: a sound could not be had; what came before it was played. */
export type PlayEnd =
  | { readonly kind: 'finished' | 'stopped' }
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string }

/** Sounds that are being played. What is told to one that is over does nothing. */
export interface CallPlayback {
  readonly id: string
  /** Never rejects; `stopped` when the call ends first. */
  readonly ended: Promise<PlayEnd>
  pause(): void
  resume(): void
  stop(): void
  /** −40 … 40 dB; what is beyond counts as the nearest. */
  setVolume(db: number): void
}
