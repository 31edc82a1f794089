import type { PcmRate } from './codec.ts'

/** Decoded sound: mono, 16 bit, in shared memory so that threads play it without a copy. */
export interface Prompt {
  readonly sampleRate: PcmRate
  readonly samples: Int16Array<SharedArrayBuffer>
}

/** Options of playing a sound on a port. */
export interface PlayRequest {
  readonly prompt: Prompt
  /** Number of repetitions; 0 means until stopped; default 1. */
  readonly loop?: number
  /** Volume in dB; default 0. */
  readonly volumeDb?: number
}

/** Sound that is being played. */
export interface Playback {
  /** Settles when the sound finished, was stopped or replaced, or the port was closed. Never rejects. */
  readonly done: Promise<'finished' | 'stopped'>
  stop(): void
  /**
   * Pauses the sound until {@link resume}; the joined port's audio passes meanwhile. No effect if paused or
   * ended.
   */
  pause(): void
  resume(): void
  /** Sets the volume from now on, in dB; 0 means unchanged. */
  setVolume(db: number): void
}

/** Source of a sound. Audio is given as file content. */
export type SoundSource =
  /** WAV, AIFF, MP3 or Ogg with Opus, detected from the content. */
  | { readonly kind: 'audio'; readonly bytes: Uint8Array }
  /** Text, optionally with SSML. */
  | {
      readonly kind: 'speech'
      readonly text: string
      readonly voice?: string
      readonly language?: string
      /** `male` or `female`, for the choice of a voice if none is named. */
      readonly gender?: string
    }
  | { readonly kind: 'silence'; readonly ms: number }
  /** One period of a country's ringing tone, to be played in a loop. */
  | { readonly kind: 'ringtone'; readonly country?: string }
  /** Music on hold, to be played in a loop. */
  | { readonly kind: 'hold-music' }
  /** One or several frequencies in Hz at once for `ms`; −60 to 0 dB of full scale, default −12. */
  | {
      readonly kind: 'tone'
      readonly frequencies: readonly number[]
      readonly ms: number
      readonly levelDb?: number
    }

/** Options of preparing a sound. */
export interface PrepareOptions {
  /**
   * Customer that requests the sound; customers take turns when many sounds wait. Default: one shared
   * by all callers that name none.
   */
  readonly customer?: string
  /** Cancels the preparation unless another caller waits for the same sound. */
  readonly signal?: AbortSignal
  /** Receives warnings about a sound that is played nevertheless: faulty markup, or an unavailable voice. */
  readonly warn?: (message: string) => void
}

/** Turns sources into prompts. Decoded, spoken and generated sounds are cached and shared. */
export interface Sounds {
  /**
   * Prepares a sound at `rate`, the rate of the playing port; default 8000. Rejects with a descriptive Error
   * if the sound is faulty, and with `code` `sound_busy` if too many sounds of the customer wait.
   */
  prepare(source: SoundSource, rate?: PcmRate, options?: PrepareOptions): Promise<Prompt>
  close(): Promise<void>
}
