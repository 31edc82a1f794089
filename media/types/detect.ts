/** How a machine that answers is told from a person. */
export interface MachineRequest {
  /** `unknown` when nothing was heard for so long from the beginning. */
  readonly initialTimeoutMs: number
  /** Who spoke, and is silent for so long, is a person. */
  readonly endSilenceMs: number
  /** A machine's greeting is over after so much silence. */
  readonly readyTimeoutMs: number
  /** A machine talks for at least so long without a pause. */
  readonly voiceThresholdMs: number
  /** Or says at least so many words. */
  readonly wordsThreshold: number
  /** Goes on after `machine` until its greeting is over. */
  readonly waitForEnd: boolean
}

/** What to listen for in what the far end says; at least one. */
export interface DetectRequest {
  readonly machine?: MachineRequest
  /** The tone of a fax that answers (CED, ITU-T V.25), or of one that calls (CNG, T.30). */
  readonly fax?: 'CED' | 'CNG'
  /** Any of these keys, as tones in the audio (ITU-T Q.23). */
  readonly digits?: string
}

/**
 * Something that was detected. After `machine`, where its end is waited for: `ready` when its greeting is over, with a beep or by silence; after a
 * silence a beep may still follow, or `notReady`: it has begun again.
 */
export type DetectFinding =
  | { readonly kind: 'machine' | 'human' | 'unknown' }
  | { readonly kind: 'ready'; readonly beep: boolean }
  | { readonly kind: 'notReady' }
  | { readonly kind: 'fax'; readonly tone: 'CED' | 'CNG' }
  | { readonly kind: 'digit'; readonly digit: string }

/** Somebody listens to one port for what it was asked for. */
export interface Detection {
  /** The one listener. */
  onFinding(listener: (finding: DetectFinding) => void): void
  /** Called once when nothing more will be found, as the last finding says it all or the port is closed; not after {@link close}. */
  onOver(listener: () => void): void
  /** Idempotent. */
  close(): void
}
