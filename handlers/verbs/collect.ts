import type { Cancellable } from './cancel.ts'
import type { CallPlayback, PlayOptions } from './play.ts'

/** How speech is collected. */
export interface SpeechOptions {
  /** BCP 47; default the recogniser's own. */
  readonly language?: string
  /** Words and phrases that are likely. */
  readonly hints?: readonly string[]
  /**
   * Speech is over when nothing new was understood for so long, whatever the recogniser makes of shorter pauses. Default: when the recogniser
   * says that an utterance is at its end, or after 1 s.
   */
  readonly endSilenceMs?: number
  /** Longest speech, from where it begins; default 60 s. */
  readonly maxSpeechMs?: number
  /** Told what was understood so far, each time that changes. */
  readonly onPartial?: (text: string) => void
}

/** What to collect. */
export interface CollectOptions extends Cancellable {
  /** Played first; input stops it (barge-in). */
  readonly prompt?: Omit<PlayOptions, 'signal'>
  /**
   * Which input stops the prompt; default both. Input that does not stop it counts all the same: the result comes with the prompt's end then,
   * and no pause between digits is measured before.
   */
  readonly bargeIn?: 'both' | 'digits' | 'speech' | 'none'
  /**
   * Collects speech too. The first digit ends that; a terminator during speech ends the speech. Default: digits alone.
   */
  readonly speech?: SpeechOptions
  /** False: speech alone, and keys mean nothing. Default true. */
  readonly digits?: boolean
  /**
   * Keys that the caller pressed since the last sound that was played to its end outside of a collection are its first digits, the last 32 of
   * them, and the prompt is not played where they would stop it: who knows the menu does not wait for it. What a collection does not take is
   * left for the next one. Keys for somebody else (who is connected, or is called; a conference, a queue, a detection, a recording's terminator)
   * do not count. Default true; false forgets them.
   */
  readonly typeAhead?: boolean
  /** Stop after so many digits; default 1. */
  readonly maxDigits?: number
  /** Any of these ends the collection and is not part of the digits; default none. */
  readonly terminators?: string
  /** Wait for the first digit or the beginning of speech, counted from the end of the prompt; default 5 s. */
  readonly initialTimeoutMs?: number
  /** Wait between digits; default 5 s. */
  readonly interDigitTimeoutMs?: number
  /** Longest collection, counted from the end of the prompt or the first input; what there is then counts. Default none. */
  readonly finalTimeoutMs?: number
  /** The wait for the first input begins only with {@link CallCollection.startTimers}. Default false: with the end of the prompt. */
  readonly holdTimers?: boolean
  /** Told once, when the caller presses the first key or begins to speak. */
  readonly onInput?: (by: 'digits' | 'speech') => void
  /** Told of the digits so far, each time that there is one more. */
  readonly onDigits?: (digits: string) => void
}

/** What was collected, and why collecting ended. */
export interface CollectResult {
  /**
   * Why it ended: the full number of digits, a terminator, a pause, something was said, there was no input, it was stopped, or (`error`) there
   * was no input and speech could not be understood.
   */
  readonly reason:
    | 'complete'
    | 'terminator'
    | 'inter-digit-timeout'
    | 'speech'
    | 'no-input'
    | 'stopped'
    | 'error'
  readonly digits: string
  readonly terminator?: string
  /** With the reason `speech`; `confidence` from 0 to 1 where the recogniser tells. */
  readonly speech?: { readonly text: string; readonly confidence?: number }
}

/** A collection that goes on in the background. */
export interface CallCollection {
  readonly id: string
  /** Rejects as `collect` does, also when the call ends. */
  readonly result: Promise<CollectResult>
  /** The prompt, where there is one. */
  readonly prompt?: CallPlayback
  /** See {@link CollectOptions.holdTimers}; nothing where they run already. */
  startTimers(): void
  /** Ends it with the reason `stopped` and the digits so far. */
  stop(): void
}
