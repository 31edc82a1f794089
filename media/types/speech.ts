import type { PcmRate } from './codec.ts'

/** Speech that was made from text. */
export interface Spoken {
  readonly sampleRate: number
  /** Mono, full scale is ±1. */
  readonly samples: Float32Array
}

/** Makes speech from text: the built-in voice, or one behind HTTP. */
export interface VoiceEngine {
  /** Rejects with an Error that says what went wrong. `signal` gives up. */
  speak(
    request: { readonly text: string; readonly voice?: string; readonly language?: string },
    signal?: AbortSignal,
  ): Promise<Spoken>
  close(): Promise<void>
}

/** What is wanted of a recogniser for one collection. */
export interface RecognitionRequest {
  readonly sampleRate: PcmRate
  /** BCP 47; default the recogniser's own. */
  readonly language?: string
  /** Words that are likely. */
  readonly hints?: readonly string[]
}

/** What was understood. */
export interface Transcript {
  readonly text: string
  /** A final one is not changed any more; the next begins anew. */
  readonly final: boolean
  /** 0 to 1, where the recogniser tells. */
  readonly confidence?: number
}

/** Told what a recognition comes to. */
export interface RecognitionListener {
  onTranscript(transcript: Transcript): void
  /** Nothing more comes: the connection was lost, or the recogniser refused. Called at most once. */
  onFailure(error: Error): void
}

/** Understands speech while it is spoken. */
export interface Recogniser {
  /** What is written before a connection is there is kept, up to 5 s of it. */
  open(request: RecognitionRequest, listener: RecognitionListener): Recognition
  close(): Promise<void>
}

/** One speaker being understood. */
export interface Recognition {
  /** Audio at the rate that was asked for. */
  write(samples: Int16Array): void
  /** No more audio; resolves when the last transcript was told, or after 3 s at most. */
  end(): Promise<void>
  /** Gives up at once. Idempotent. */
  close(): void
}
