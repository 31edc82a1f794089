import type { Cancellable } from './cancel.ts'
import type { CallPlayback, PlayOptions } from './play.ts'

/** Options of speech recognition. */
export interface SpeechOptions {
  /** Language tag (BCP 47); default the recogniser's own. */
  readonly language?: string
  /** Words and phrases that the caller is likely to say. */
  readonly hints?: readonly string[]
  /**
   * Time without newly recognised words that ends the speech, in milliseconds; shorter pauses never end it.
   * Default: the speech ends when the recogniser reports the end of an utterance, or after 1 s.
   */
  readonly endSilenceMs?: number
  /** Maximum duration of the speech from its start, in milliseconds; default 60 s. */
  readonly maxSpeechMs?: number
  /** Receives the text recognised so far, each time that it changes. */
  readonly onPartial?: (text: string) => void
}

/** Options of {@link CallControl.collect}. */
export interface CollectOptions extends Cancellable {
  /** Sounds that play first; input stops them (barge-in). */
  readonly prompt?: Omit<PlayOptions, 'signal'>
  /**
   * Kind of input that stops the prompt; default both. Other input still counts: its result follows the end
   * of the prompt, and the inter-digit timeout starts only then.
   */
  readonly bargeIn?: 'both' | 'digits' | 'speech' | 'none'
  /**
   * Collects speech too. The first digit cancels speech; a terminator during speech ends it. Default: digits
   * only.
   */
  readonly speech?: SpeechOptions
  /** Whether digits are collected; `false` collects speech only. Default true. */
  readonly digits?: boolean
  /**
   * Whether digits that the caller sent before the collection count as its first digits (type-ahead); default
   * true. `false` discards them.
   *
   * The last 32 digits since the end of the last sound outside a collection are kept. If they would stop the
   * prompt, it does not play. Digits that a collection does not use remain for the next one. Digits for
   * another receiver do not count: a connected or called party, a conference, a queue, a detection, or a
   * recording's terminator.
   */
  readonly typeAhead?: boolean
  /** Number of digits that completes the collection; default 1. */
  readonly maxDigits?: number
  /** Digits that end the collection and are not part of the result; default none. */
  readonly terminators?: string
  /**
   * Maximum wait for the first digit or the start of speech, from the end of the prompt, in milliseconds;
   * default 5 s.
   */
  readonly initialTimeoutMs?: number
  /** Maximum wait between two digits, in milliseconds; default 5 s. */
  readonly interDigitTimeoutMs?: number
  /**
   * Maximum duration of the collection, from the end of the prompt or the first input, in milliseconds. The
   * input so far is the result. Default none.
   */
  readonly finalTimeoutMs?: number
  /**
   * Whether the wait for the first input starts only with {@link CallCollection.startTimers}. Default false:
   * it starts at the end of the prompt.
   */
  readonly holdTimers?: boolean
  /** Called once, at the first digit or the start of speech. */
  readonly onInput?: (by: 'digits' | 'speech') => void
  /** Receives the digits so far, at each further digit. */
  readonly onDigits?: (digits: string) => void
}

/** Result of a collection. */
export interface CollectResult {
  /** Reason for its end; `error` means that there were no digits and speech recognition failed. */
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
  /**
   * Recognised speech; present with the reason `speech`. `confidence` is from 0 to 1 if the recogniser
   * reports it.
   */
  readonly speech?: { readonly text: string; readonly confidence?: number }
}

/** Collection in the background. */
export interface CallCollection {
  readonly id: string
  /** Result of the collection. Rejects as `collect` does, also when the call ends. */
  readonly result: Promise<CollectResult>
  /** Playback of the prompt; absent without a prompt. */
  readonly prompt?: CallPlayback
  /** Starts the timers that {@link CollectOptions.holdTimers} deferred. Has no effect on running timers. */
  startTimers(): void
  /** Ends the collection with the reason `stopped` and the digits so far. */
  stop(): void
}
