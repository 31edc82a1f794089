import type { Cancellable } from './cancel.ts'

/** Sound that a call can hear. */
export type Sound =
  /** Audio from an HTTP(S) URL, or from the sounds folder (`file:`): WAV, AIFF, MP3 or Ogg with Opus. */
  | { readonly kind: 'audio'; readonly url: string }
  /** Text to speak, plain or with SSML; default voice and language as configured. */
  | {
      readonly kind: 'speech'
      readonly text: string
      readonly voice?: string
      readonly language?: string
      /** Gender of the voice if no voice is named: male or female. Other values cause a warning. */
      readonly gender?: string
    }
  | { readonly kind: 'silence'; readonly ms: number }
  /**
   * Ringing tone of a country (ISO 3166 alpha-2, default `us`) for `ms` milliseconds; default until stopped.
   */
  | { readonly kind: 'ringtone'; readonly country?: string; readonly ms?: number }

/** Options of {@link CallControl.play}. */
export interface PlayOptions extends Cancellable {
  readonly sounds: readonly Sound[]
  /** Gain in dB, −40 to 40; default 0. */
  readonly volumeDb?: number
  /** Number of repetitions of the whole list; 0 repeats until stopped. Default 1. */
  readonly loop?: number
  /** Whether an unanswered call is answered first; default true. `false` plays as early media. */
  readonly autoAnswer?: boolean
}

/** End of a playback. `failed`: a sound could not be loaded; the sounds before it were played. */
export type PlayEnd =
  | { readonly kind: 'finished' | 'stopped' }
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string }

/** Playback in the background. Its methods have no effect after its end. */
export interface CallPlayback {
  readonly id: string
  /** End of the playback; `stopped` if the call ends first. Never rejects. */
  readonly ended: Promise<PlayEnd>
  pause(): void
  resume(): void
  stop(): void
  /** Sets the gain in dB, limited to −40 to 40. */
  setVolume(db: number): void
}
