import type { Cancellable } from './cancel.ts'

/** Options of answering machine detection. */
export interface MachineOptions {
  /** Time without speech from the start that gives `unknown`, in milliseconds; default 4.5 s. */
  readonly initialTimeoutMs?: number
  /** Silence after speech that identifies a person, in milliseconds; default 1 s. */
  readonly endSilenceMs?: number
  /** Silence that ends a machine's greeting, in milliseconds; default `endSilenceMs`. */
  readonly readyTimeoutMs?: number
  /** Speech without a pause that identifies a machine, in milliseconds; default 1.25 s. */
  readonly voiceThresholdMs?: number
  /** Number of words that identifies a machine; default 6. */
  readonly wordsThreshold?: number
  /**
   * Whether detection continues after `machine` until the beep or the end of the greeting; default false. A
   * silence of `readyTimeoutMs` reports `ready`. Detection then listens for the same time again, because a
   * beep often follows or the greeting continues.
   */
  readonly waitForEnd?: boolean
}

/** Options of {@link CallControl.detect}. At least one of `machine`, `fax` and `digits` must be present. */
export interface DetectOptions extends Cancellable {
  readonly machine?: MachineOptions
  /** Fax tone: CED (2,100 Hz, ITU-T V.25) of an answering fax, or CNG (1,100 Hz, T.30) of a calling fax. */
  readonly fax?: 'CED' | 'CNG'
  /** DTMF digits to detect, as events or in the audio. */
  readonly digits?: string
  /** Maximum duration of the detection, in milliseconds; default 30 s. */
  readonly timeoutMs?: number
  /** Receives each finding, in order. */
  readonly onFinding?: (finding: Finding) => void
}

/**
 * Finding of a detection. `ready`: a machine's greeting has ended, with a beep or with silence. `notReady`:
 * the greeting continues after a silence.
 */
export type Finding =
  | { readonly kind: 'machine' | 'human' | 'unknown' }
  | { readonly kind: 'ready'; readonly beep: boolean }
  | { readonly kind: 'notReady' }
  | { readonly kind: 'fax'; readonly tone: 'CED' | 'CNG' }
  | { readonly kind: 'digit'; readonly digit: string }

/** Result of {@link CallControl.detect}. */
export interface DetectResult {
  /** Detected party or signal; `none` after a timeout. */
  readonly kind: 'machine' | 'human' | 'unknown' | 'fax' | 'digit' | 'none'
  /** Whether a beep was heard; present with `machine` and `waitForEnd`. False also after a timeout. */
  readonly beep?: boolean
  readonly tone?: 'CED' | 'CNG'
  readonly digit?: string
  /** Duration of the detection, in milliseconds. */
  readonly durationMs: number
}
