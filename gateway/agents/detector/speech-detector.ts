/** Sample rate of the audio that a {@link SpeechDetector} takes, in Hz. */
export const detectorRate = 8000
/** Duration of the audio that one probability is about, in ms. */
export const windowMs = 32

/** Detection of speech in the audio of one call. */
export interface SpeechStream {
  /** Begins a sound: nothing that was heard before counts. No probability of an earlier sound follows. */
  begin(): void
  /**
   * Adds audio of the sound: mono, {@link detectorRate}. Returns false if the detector does not take it,
   * because it is being started, has failed, or has too much to do. The array may be reused.
   */
  hear(samples: Int16Array): boolean
  /** Ends the detection. Idempotent. */
  close(): void
}

/** Detector that tells speech from other sounds, shared by all calls. */
export interface SpeechDetector {
  /** Probability from which a window counts as speech, 0 to 1. */
  readonly threshold: number
  /**
   * Opens the detection for a call. `onWindow`: receives a probability for each {@link windowMs}, in order.
   */
  open(onWindow: (probability: number) => void): SpeechStream
  /** Ends the detector. Open streams take nothing more. Idempotent. */
  close(): Promise<void>
}
