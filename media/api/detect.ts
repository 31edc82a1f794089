/** Parameters of answering-machine detection. */
export interface MachineRequest {
  /** Time without speech from the start after which the result is `unknown`, in ms. */
  readonly initialTimeoutMs: number
  /** Silence after speech that identifies a person, in ms. */
  readonly endSilenceMs: number
  /** Silence that ends a machine's greeting, in ms. */
  readonly readyTimeoutMs: number
  /** Minimum length of uninterrupted speech that identifies a machine, in ms. */
  readonly voiceThresholdMs: number
  /** Minimum number of words that identifies a machine. */
  readonly wordsThreshold: number
  /** Whether detection continues after `machine` until the greeting has ended. */
  readonly waitForEnd: boolean
}

/** Signals to detect in the far end's audio; at least one. */
export interface DetectRequest {
  readonly machine?: MachineRequest
  /** Tone of an answering fax (CED, ITU-T V.25) or of a calling fax (CNG, T.30). */
  readonly fax?: 'CED' | 'CNG'
  /** DTMF digits to detect as tones in the audio (ITU-T Q.23). */
  readonly digits?: string
}

/**
 * Result of a detection. With `waitForEnd`, `ready` follows `machine` when the greeting has ended, by a beep
 * or by silence. If a silence ended the greeting, a later beep gives `ready` again, and `notReady` follows if
 * the greeting continues.
 */
export type DetectFinding =
  | { readonly kind: 'machine' | 'human' | 'unknown' }
  | { readonly kind: 'ready'; readonly beep: boolean }
  | { readonly kind: 'notReady' }
  | { readonly kind: 'fax'; readonly tone: 'CED' | 'CNG' }
  | { readonly kind: 'digit'; readonly digit: string }

/** Detection that runs on one port. */
export interface Detection {
  /** Sets the only listener. */
  onFinding(listener: (finding: DetectFinding) => void): void
  /**
   * Sets the listener for the end: a conclusive finding was reported, or the port was closed. Called once,
   * and not after {@link close}.
   */
  onEnd(listener: () => void): void
  /** Stops the detection. Idempotent. */
  close(): void
}
