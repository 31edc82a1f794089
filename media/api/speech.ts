import type { PcmRate } from './codec.ts'

/** Text to speak, and the voice to speak it with. */
export interface VoiceRequest {
  /** Plain text, or SSML if the engine is configured for SSML. */
  readonly text: string
  /** Voice by the engine's name; default the engine's own. */
  readonly voice?: string
  /** BCP 47 tag; default the voice's language. */
  readonly language?: string
  /** Sampling rate of the result. */
  readonly rate: PcmRate
  /** Customer that requests the speech; customers take turns. */
  readonly customer?: string
}

/** Text-to-speech engine: the built-in voice, or one behind HTTP. */
export interface VoiceEngine {
  /**
   * Returns mono 16-bit samples at the requested rate. Rejects with a descriptive Error. `signal` cancels.
   */
  speak(request: VoiceRequest, signal?: AbortSignal): Promise<Int16Array<SharedArrayBuffer>>
  close(): Promise<void>
}

/** Options of one speech recognition. */
export interface RecognitionRequest {
  readonly sampleRate: PcmRate
  /** BCP 47 tag; default the recogniser's own. */
  readonly language?: string
  /** Words that the speaker is likely to use. */
  readonly hints?: readonly string[]
}

/** Recognised text. */
export interface Transcript {
  readonly text: string
  /** Whether the text is final; the next transcript starts a new one. */
  readonly isFinal: boolean
  /** Confidence from 0 to 1; absent if the recogniser reports none. */
  readonly confidence?: number
}

/** Receives the results of a recognition. */
export interface RecognitionListener {
  onTranscript(transcript: Transcript): void
  /**
   * Called if the recognition fails: the connection was lost or the recogniser rejected it. Called at most
   * once.
   */
  onFailure(error: Error): void
}

/** Speech recognition while the far end speaks. */
export interface Recogniser {
  /** Opens a recognition. Up to 5 s of audio written before the connection is up are kept. */
  open(request: RecognitionRequest, listener: RecognitionListener): Recognition
  close(): Promise<void>
}

/** Recognition of one speaker. */
export interface Recognition {
  /** Writes audio at the requested rate. */
  write(samples: Int16Array): void
  /** Ends the audio. Resolves after the last transcript, or after 3 s at most. */
  end(): Promise<void>
  /** Cancels at once. Idempotent. */
  close(): void
}
