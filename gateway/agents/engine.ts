import type {
  AgentFunction,
  AgentLanguage,
  AgentMessage,
  AgentModelSettings,
  AgentRewrite,
  AgentText,
} from '../../handlers/verbs.ts'
import type { PcmRate } from '../../media/types.ts'

/** Abilities of an engine, by which the conversation adapts to it. */
export interface EngineAbilities {
  /**
   * Decision about the end of the caller's turn. `ours`: the conversation decides, and calls
   * {@link EngineLink.commit}. `its`: the engine decides, and reports turns. `duplex`: the engine hears while
   * it speaks, and has no turns.
   */
  readonly turns: 'ours' | 'its' | 'duplex'
  /**
   * Report of an interruption. `truncate`: the engine forgets what was not heard. `note`: it learns the heard
   * text by a message. `none`: it decides by itself.
   */
  readonly cut: 'truncate' | 'note' | 'none'
  /** Pace of the engine's audio: `burst` is faster than real time, `real` is real time including silence. */
  readonly pace: 'burst' | 'real'
  /** Whether the engine speaks a given text word for word. */
  readonly isExact: boolean
  /** Whether prompt and functions can change in a session. */
  readonly changes: boolean
  /** Whether the history that the model sees can be replaced in a session. */
  readonly changesHistory: boolean
  /** Longest session in milliseconds; absent: no limit. */
  readonly longestMs?: number
}

/** Message of a conversation as an engine sees it, including calls of functions. */
export type EngineMessage =
  | (AgentMessage & { readonly calls?: readonly EngineCall[] })
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly content: string }

/** Call of a function. */
export interface EngineCall {
  readonly id: string
  readonly name: string
  readonly args: string
}

/** State of a conversation that a session of an engine begins with. */
export interface EngineRequest {
  /** Id of the customer's project, for fairness and logs. */
  readonly projectId: string
  readonly prompt: string
  readonly functions: readonly AgentFunction[]
  readonly history: readonly EngineMessage[]
  readonly languages: readonly AgentLanguage[]
  readonly hints: readonly string[]
  readonly pronounce: readonly AgentRewrite[]
  readonly settings: AgentModelSettings
  /** Whether a source of meaning may end a turn; silence in ms that ends it otherwise. */
  readonly isSemantic: boolean
  readonly endOfSpeechMs: number
  /** Whether an engine may stop speaking by itself when it hears the caller; default true. */
  readonly isInterruptible?: boolean
}

/** Kind of a failure, for logs, metrics and the decision to try again. */
export type EngineFailureKind =
  /** The key was rejected. */
  | 'unauthorised'
  /** Too many requests, or no credit. */
  | 'limited'
  /** The server rejects the request: unknown model, faulty parameters. */
  | 'refused'
  /** No connection, or it was lost. */
  | 'connection'
  /** No answer in time. */
  | 'timeout'
  /** A message that cannot be understood, or breaks a limit. */
  | 'protocol'
  /** The server reports an error of its own. */
  | 'server'

/** Failure of an engine. The message contains no secret and no text of the conversation. */
export interface EngineFailure {
  readonly kind: EngineFailureKind
  readonly message: string
  /** Part that failed: `recogniser`, `model` or `voice` of a pipeline, else the engine by its name. */
  readonly part: string
}

/**
 * Events of an engine. An answer has one or more items, each a piece of audio with its text; ids are unique
 * in a session. Events of an answer that was cancelled or cut are ignored by the conversation.
 */
export interface EngineListener {
  /** The session accepts audio. Called once per session. */
  onReady(): void
  /** Text of the caller's turn so far (`isFinal` false), or a final part of it. */
  onHeard(heard: {
    readonly text: string
    readonly isFinal: boolean
    readonly confidence?: number
    readonly language?: string
  }): void
  /**
   * Turn of the caller, by the engine. `eager`: it has probably ended; `resumed`: it goes on after all.
   * `ended` of an engine whose turns are `its` means that the engine answers by itself. `isInferred`: the end
   * is known only by the answer, which begins now; default false.
   */
  onTurn(state: 'began' | 'eager' | 'resumed' | 'ended', isInferred?: boolean): void
  /**
   * The engine begins an answer. `isText`: whether it speaks the text of {@link EngineLink.say}; absent: the
   * engine does not know, and answers in the order in which it was asked.
   */
  onAnswer(answer: string, isText?: boolean): void
  /** Audio of an item, at {@link EngineLink.outputRate}; the receiver owns the array. */
  onAudio(answer: string, item: string, samples: Int16Array): void
  /** Text of an item: what its audio says. May come before or after the audio. */
  onText(answer: string, item: string, text: string): void
  /** Everything of the item was delivered. */
  onItemEnd(answer: string, item: string): void
  /** The model calls a function. Called for committed answers only, once per call. */
  onCall(answer: string, call: EngineCall): void
  /** Calls that the engine no longer wants an answer to. */
  onCallsCancelled(ids: readonly string[]): void
  /** Everything of the answer was delivered. `incomplete`: cut by the engine's own limit. */
  onAnswerEnd(answer: string, how: 'completed' | 'cancelled' | 'incomplete' | 'failed'): void
  /** The engine heard the caller interrupt: audio of its answers that was not played is void. */
  onInterrupted(): void
  onUsage(usage: {
    readonly inputTokens?: number
    readonly outputTokens?: number
    readonly voiceCharacters?: number
    readonly recognisedMs?: number
  }): void
  /** First token of an answer was received: a stamp of the report. */
  onFirstToken(answer: string): void
  /** Fault that does not end the session. */
  onWarning(code: string, message: string): void
  /** The session will end in `inMs` milliseconds. */
  onClosing(inMs: number): void
  /** The session has ended without {@link EngineLink.close}. Called at most once; nothing follows. */
  onFailure(failure: EngineFailure): void
}

/** Decoded sound: mono, 16 bit. `sampleRate` in Hz. */
export interface EngineSamples {
  readonly samples: Int16Array
  readonly sampleRate: PcmRate
}

/** Sound among the words of an agent; see `AgentSound`. */
export interface EngineSound {
  readonly loops: number
  /** Returns the decoded sound. Rejects if it cannot be loaded. */
  load(): Promise<EngineSamples>
}

/** Session of an engine. No method throws; after the end they have no effect. */
export interface EngineLink {
  readonly abilities: EngineAbilities
  /** Sample rate in Hz that {@link hear} expects. */
  readonly inputRate: PcmRate
  /** Sample rate in Hz of {@link EngineListener.onAudio}. */
  readonly outputRate: PcmRate
  /** Audio of the caller: 20 ms, without gaps, from the opening on. */
  hear(samples: Int16Array): void
  /** The caller's turn is complete (`turns: 'ours'`): answer it. `text`: the turn as recognised. */
  commit(text: string): void
  /**
   * Begins to answer a turn that has probably ended, without effects: functions wait for {@link commit} with
   * the same text. Only `turns: 'ours'`; an engine that cannot do it does nothing.
   */
  prepare(text: string): void
  /** Throws a prepared answer away. Absent: {@link prepare} does nothing. */
  discard?(): void
  /** Opens the hearing again: the caller speaks, and no text comes. Absent: the engine hears by itself. */
  revive?(): void
  /** Adds a message; `respond`: answers it now. An interrupted answer ends first. */
  message(message: AgentMessage, respond: boolean): void
  /** Answers now, with an instruction for this answer only. */
  answer(instruction: string | undefined): void
  /** Speaks a text word for word, or as nearly as it can, as an answer of its own. */
  say(text: string): void
  /**
   * The same for a text in a language of its own, for one that is being written, and for a sound. Absent:
   * the engine cannot do it.
   */
  speak?(what: string | AgentText | EngineSound, language: AgentLanguage | undefined): void
  /**
   * Cancels the answer in progress, and everything that was prepared. `heard`: position in the item that the
   * caller was hearing, and the text heard of the whole answer; absent if nothing was heard. Without it, and
   * while an answer is prepared, only that one is cancelled.
   * `isForgotten`: the answer never happened; the next turn contains the one before.
   */
  interrupt(heard: EngineHeard | undefined, isForgotten: boolean): void
  /** Answers a call of a function. `respond`: whether the model goes on now. */
  result(call: EngineCall, text: string, respond: boolean): void
  /**
   * Changes the session. Engines that cannot (`changes` or `changesHistory` false) are opened again by the
   * conversation.
   */
  change(change: EngineChange): void
  close(): void
}

/** Position that the caller heard. */
export interface EngineHeard {
  readonly answer: string
  readonly item: string
  /** Audio of the item that left the gateway, in milliseconds. */
  readonly ms: number
  /** Text heard of the answer, estimated by the share of the audio where the engine gives no times. */
  readonly text: string
}

/** Changes of a session; absent members stay. */
export interface EngineChange {
  readonly prompt?: string
  readonly functions?: readonly AgentFunction[]
  readonly settings?: AgentModelSettings
  readonly hints?: readonly string[]
  /** Replaces the history that the model sees. */
  readonly history?: readonly EngineMessage[]
  /** Language to speak from now on. */
  readonly language?: AgentLanguage
  readonly endOfSpeechMs?: number
}

/** Engine of voice agents, by its configuration. Shared by all calls. */
export interface Engine {
  /** Name in the configuration. */
  readonly name: string
  /** Kind in the configuration, for metrics. */
  readonly kind: string
  /**
   * Opens a session. Returns at once; the listener is not called before. Audio heard before the session is
   * ready is kept (5 s at most) and delivered then.
   */
  open(request: EngineRequest, listener: EngineListener): EngineLink
  close(): Promise<void>
}
