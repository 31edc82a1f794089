import type { PcmRate } from './codec.ts'

/** What a voice is to speak. */
export interface VoiceRequest {
  /** Plain text, or SSML where the engine was said to take that. */
  readonly text: string
  /** As the engine names it; default the engine's own. */
  readonly voice?: string
  /** BCP 47; default the voice's own. */
  readonly language?: string
  /** Wanted of what comes back. */
  readonly rate: PcmRate
  /** For whom; customers take turns. */
  readonly customer?: string
}

/** Makes speech from text: the built-in voice, or one behind HTTP. */
export interface VoiceEngine {
  /** Mono, 16 bit, at the wanted rate. Rejects with an Error that says what went wrong. `signal` gives up. */
  speak(request: VoiceRequest, signal?: AbortSignal): Promise<Int16Array<SharedArrayBuffer>>
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
