import type { Cancellable } from './cancel.ts'

/** How a machine is told from a person. */
export interface MachineOptions {
  /** `unknown` when nothing was heard for so long from the beginning; default 4.5 s. */
  readonly initialTimeoutMs?: number
  /** Who spoke, and is silent for so long, is a person; default 1 s. */
  readonly endSilenceMs?: number
  /** A machine's greeting is over after so much silence; default as `endSilenceMs`. */
  readonly readyTimeoutMs?: number
  /** A machine talks for at least so long without a pause; default 1.25 s. */
  readonly voiceThresholdMs?: number
  /** A machine says at least so many words; default 6. */
  readonly wordsThreshold?: number
  /**
   * Goes on after `machine` until its beep is over, or its greeting: after a silence of `readyTimeoutMs` (`ready` is told then) it is listened to for as
   * long again, as the beep often follows, or the greeting goes on. Default false.
   */
  readonly waitForEnd?: boolean
}

/** What to detect; at least one. */
export interface DetectOptions extends Cancellable {
  readonly machine?: MachineOptions
  /** A fax's tone: CED (2,100 Hz, ITU-T V.25) is that of one that answers, CNG (1,100 Hz, T.30) that of one that calls. */
  readonly fax?: 'CED' | 'CNG'
  /** Any of these keys, pressed or heard in the audio. */
  readonly digits?: string
  /** Longest detection; default 30 s. */
  readonly timeoutMs?: number
  /** Told of each finding, in order. */
  readonly onFinding?: (finding: Finding) => void
}

/** Something that was detected. `ready`: a machine's greeting is over, with a beep or by silence; `notReady`: it goes on after a silence. */
export type Finding =
  | { readonly kind: 'machine' | 'human' | 'unknown' }
  | { readonly kind: 'ready'; readonly beep: boolean }
  | { readonly kind: 'notReady' }
  | { readonly kind: 'fax'; readonly tone: 'CED' | 'CNG' }
  | { readonly kind: 'digit'; readonly digit: string }

/** What came of it. */
export interface DetectResult {
  /** `none`: the time was over. */
  readonly kind: 'machine' | 'human' | 'unknown' | 'fax' | 'digit' | 'none'
  /** With `machine` and `waitForEnd`: a beep was heard; false also where the time was over. */
  readonly beep?: boolean
  readonly tone?: 'CED' | 'CNG'
  readonly digit?: string
  /** Time that it took. */
  readonly durationMs: number
}
