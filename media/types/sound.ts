import type { PcmRate } from './codec.ts'

/** Decoded sound: mono, 16 bit, in shared memory, so that threads play it without a copy. */
export interface Prompt {
  readonly sampleRate: PcmRate
  readonly samples: Int16Array<SharedArrayBuffer>
}

/** What to play on a port. */
export interface PlayRequest {
  readonly prompt: Prompt
  /** 0 means until stopped; default 1. */
  readonly loop?: number
  /** Default 0. */
  readonly volumeDb?: number
}

/** A sound that is being played. */
export interface Playback {
  /** Settles when the sound is at its end, was stopped, was replaced by another, or the port was closed. Never rejects. */
  readonly done: Promise<'finished' | 'stopped'>
  stop(): void
  /** Nothing is heard of it until {@link resume}; the joined port's audio passes meanwhile. Harmless when it is paused, or over. */
  pause(): void
  resume(): void
  /** From now on, in dB; 0 leaves the sound as it is. */
  setVolume(db: number): void
}

/** A sound to prepare. Audio is given as the bytes that were fetched. */
export type SoundSource =
  /** WAV, AIFF, MP3 or Ogg with Opus; told by the bytes themselves. */
  | { readonly kind: 'audio'; readonly bytes: Uint8Array }
  /** Text, which may hold SSML. */
  | {
      readonly kind: 'speech'
      readonly text: string
      readonly voice?: string
      readonly language?: string
      /** male or female: of the voice where none is named. */
      readonly gender?: string
    }
  | { readonly kind: 'silence'; readonly ms: number }
  /** One period of a country's ringing tone: play it in a loop. */
  | { readonly kind: 'ringtone'; readonly country?: string }
  /** Music for who waits: play it in a loop. */
  | { readonly kind: 'hold-music' }
  /** One or several frequencies in Hz at once, `ms` long; −60 to 0 dB of full scale, default −12. */
  | {
      readonly kind: 'tone'
      readonly frequencies: readonly number[]
      readonly ms: number
      readonly levelDb?: number
    }

/** Who waits for a sound. */
export interface PrepareOptions {
  /** Whose it is: customers take turns where much is to be made. Default: one that all have who name none. */
  readonly customer?: string
  /** Gives up, where nobody else waits for the same. */
  readonly signal?: AbortSignal
  /** Told what is wrong with a sound that is played all the same: faulty markup, or a voice that could not be had. */
  readonly warn?: (message: string) => void
}

/** Turns sounds into prompts. What is decoded, spoken or made is kept, and shared by all who want the same. */
export interface Sounds {
  /**
   * At `rate`, default 8000: that of the port which will play it. Rejects with an Error that says what is wrong with the sound, and with the
   * code `sound_busy` where the customer has too much waiting.
   */
  prepare(source: SoundSource, rate?: PcmRate, options?: PrepareOptions): Promise<Prompt>
  close(): Promise<void>
}
