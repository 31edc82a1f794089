import type { AgentTurnSettings } from '../../../handlers/verbs.ts'
import type { EngineAbilities } from '../engine.ts'

/**
 * State of a conversation. `listening`: neither speaks. `caller`: the caller speaks. `thinking`: the turn is
 * complete, and no sound of the answer was sent yet. `speaking`: the agent speaks. `doubting`: the agent's
 * voice is faded, and it is not decided whether the caller interrupts. `held`: neither listens nor speaks.
 * `leaving`: the agent speaks its last words. `over`: ended.
 */
export type TurnState =
  | 'listening'
  | 'caller'
  | 'thinking'
  | 'speaking'
  | 'doubting'
  | 'held'
  | 'leaving'
  | 'over'

/** Complete turn of the caller. */
export interface CallerTurn {
  readonly text: string
  readonly by: 'speech' | 'keys' | 'text'
  readonly confidence?: number
  readonly language?: string
  /** Uptime in ms of the begin and the end of its voice; absent if unknown. */
  readonly startedAt?: number
  readonly endedAt?: number
  /** Number of earlier turns that a transparent interruption joined to it. */
  readonly merged: number
  readonly endedBy: 'silence' | 'meaning' | 'engine' | 'limit'
  /** Instruction for the answer to this turn, because it interrupted the agent. */
  readonly instruction?: string
}

/** Cause of a cut: see {@link TurnActor.cut}. */
export type CutKind = 'transparent' | 'normal' | 'given-up'

/** Cause of an end that the turns decide. */
export type TurnEnd = 'inactive' | 'limit' | 'stopped'

/** Effects that the turns decide; implemented by the conversation. No method calls back synchronously. */
export interface TurnActor {
  /** Lowers the agent's voice; its queue waits. The reflex may have done it already. */
  fade(): void
  /** Continues the faded answer with the same word. */
  resume(): void
  /**
   * Drops the rest of the answer. `transparent`: the answer is dropped from the history, too, and the turn
   * before continues. `given-up`: the caller did not interrupt; the engine did not go on with the answer, a
   * limit of the conversation ends it, or {@link TurnInputs.drop} did. `text`: what the caller said so far.
   * `by`: input that interrupted; absent if none did.
   */
  cut(how: CutKind, text: string, by?: CallerTurn['by']): void
  /** Begins an answer to a turn that has probably ended; see `EngineLink.prepare`. */
  prepare(text: string): void
  /** Throws a prepared answer away. */
  discard(): void
  /** The turn is complete. For engines whose turns are `ours`, the model answers it now. */
  commit(turn: CallerTurn): void
  /** A turn that is not for the agent ({@link AgentTurnSettings.wakeName}): the model does not answer. */
  overheard(turn: CallerTurn): void
  /** The model speaks without a turn. `interrupted`: after an interruption that no turn followed. */
  prompt(instruction: string, reason: 'attention' | 'limit' | 'interrupted'): void
  /** Says a filler, if there is one. */
  filler(when: 'thinking' | 'dictation'): void
  /** Reports recognised text so far. */
  partial(text: string, isBarge: boolean): void
  /** Voice was heard for long without any recognition: the recogniser is opened again. */
  reviveHearing(): void
  /** The engine gave nothing for a committed turn: it is asked again, or replaced. */
  reviveAnswer(): void
  /** The last word was heard, or the time for it is over: the conversation ends. */
  end(reason: TurnEnd): void
}

/** Rules that the turns follow: those of the document, and those of the engine. */
export interface TurnRules extends AgentTurnSettings {
  readonly engine: Pick<EngineAbilities, 'turns' | 'cut'>
  /** Whether the caller speaks first. */
  readonly waitForUser: boolean
}

/**
 * Turn-taking of one conversation. A class `Turns` implements it with an injected clock. Every state but
 * `held` and `over` has a timer, so none lasts for ever; that of `listening` is the inactivity.
 */
export interface TurnInputs {
  readonly state: TurnState
  /** Whether the engine was asked for an answer, or has to give one, that has not begun. */
  readonly isAnswerDue: boolean
  /**
   * Voice of the caller, by the detector in the media thread: began (the reflex has faded) or ended. `agoMs`:
   * time since the first or last voiced frame; default 0.
   */
  voice(isVoiced: boolean, agoMs?: number): void
  /** The voice that began last was none, by a detector that knows speech. */
  noVoice(): void
  /** Text of the caller, by the recogniser or the engine. */
  heard(heard: {
    readonly text: string
    readonly isFinal: boolean
    readonly confidence?: number
    readonly language?: string
    /** Whether the words are mostly those that the agent said lately; they then count only with voice. */
    readonly isEcho?: boolean
  }): void
  /** Turn of the caller, by the engine. */
  engineTurn(state: 'began' | 'eager' | 'resumed' | 'ended'): void
  /** Key of the caller (0-9 * # A-D). */
  key(digit: string): void
  /** Text of the caller from elsewhere: a message, or the action `user_input`. */
  said(text: string): void
  /** The engine was asked for an answer without a turn, for instance to a message. */
  asked(): void
  /**
   * An answer begins. `isInterruptible`: whether the caller can interrupt it. `isAwaited`: whether it is the
   * one that the engine was asked for, rather than a text in between; default true. Returns whether it may be
   * heard: the last words were said before {@link leave}.
   */
  answerBegan(answer: string, isInterruptible: boolean, isAwaited?: boolean): boolean
  /** The first sound of an answer left the gateway, or the first one after {@link played}. */
  speechBegan(answer: string): void
  /** Audio of an answer was queued, of a duration in ms. */
  audioCame(answer: string, ms: number): void
  /** Everything of an answer was delivered by the engine (nothing may have been). */
  answerDelivered(answer: string): void
  /**
   * Everything that was queued has left the gateway. Called after each {@link answerDelivered}, too, as soon
   * as the queue is empty then: at once if it is.
   */
  played(): void
  functionBegan(id: string): void
  /** `isAnswered`: whether the model goes on now; default true. */
  functionEnded(id: string, isAnswered?: boolean): void
  hold(): void
  unhold(): void
  /**
   * Drops the answers in progress, and those that were asked for. `isEngines`: whether the engine has a text
   * or an answer, which counts while the floor is not the agent's.
   */
  drop(isEngines: boolean): void
  /** The agent ends after its last words. */
  leave(): void
  /** A limit of the conversation is reached: it ends as by the hard stop. */
  stop(): void
  /** Another engine continues the conversation. */
  useEngine(engine: TurnRules['engine']): void
  change(settings: Partial<AgentTurnSettings>): void
  waitForUser(ms: number | undefined): void
  /** The call has ended: no effect follows. */
  close(): void
}
