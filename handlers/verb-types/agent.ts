import type { Cancellable } from './cancel.ts'

/** Function that the model of a voice agent can call. */
export interface AgentFunction {
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Phrases that the agent says while the function runs, by language (BCP 47, or `default`). */
  readonly fillers?: Readonly<Record<string, readonly string[]>>
  /** Sound for the time of the function, in place of the background, after the filler. */
  readonly waitSound?: { readonly url: string; readonly loops: number }
  /** Whether the function starts only after its filler was heard; default false. */
  readonly waitForFillers?: boolean
}

/** Call of a function by the model. */
export interface AgentFunctionCall {
  /** Unique within the conversation. */
  readonly id: string
  readonly name: string
  /** Arguments as the model wrote them: usually JSON, possibly faulty. */
  readonly args: string
}

/** Answer to an {@link AgentFunctionCall}. */
export interface AgentFunctionResult {
  /** Text for the model. */
  readonly text: string
  /** Whether the model answers now; default true. */
  readonly respond?: boolean
  /** Text that the history keeps of the call in place of `text`. */
  readonly kept?: string
  /** Runs after the model's next answer was heard or interrupted. Never rejects. */
  readonly after?: () => Promise<void>
}

/** Message of a conversation. */
export interface AgentMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
  readonly language?: string
}

/** Language that an agent understands and speaks. */
export interface AgentLanguage {
  /** Name for the model, for instance `English`. */
  readonly name: string
  /** BCP 47 tag, or `multi` for a recogniser that follows the caller. */
  readonly code: string
  /** Language of the caller, if it differs: a BCP 47 tag, or `multi`; default `code`. */
  readonly heard?: string
  /** Voice by the document's name, for instance `elevenlabs.rachel`; default the engine's own. */
  readonly voice?: string
  /** Settings of the voice, passed on to its engine. */
  readonly voiceSettings?: Readonly<Record<string, unknown>>
  /** Phrases while the model thinks, while a function runs, and while the caller dictates. */
  readonly speechFillers?: readonly string[]
  readonly functionFillers?: readonly string[]
  readonly turnFillers?: readonly string[]
}

/** Rewriting of text: words for the voice, or what the recogniser heard. */
export interface AgentRewrite {
  /** Text to replace; `isPattern`: a regular expression (PCRE). */
  readonly replace: string
  readonly with: string
  readonly ignoreCase: boolean
  readonly isPattern?: boolean
}

/** Settings of the model. Absent: the engine's default. */
export interface AgentModelSettings {
  readonly temperature?: number
  readonly topP?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly maxTokens?: number
}

/** Text that an agent speaks while it is being written. */
export interface AgentText {
  /**
   * Calls the listener with the text so far, if there is any, with each further piece, and with undefined at
   * the end. Returns a function that ends the calls.
   */
  read(listener: (piece: string | undefined) => void): () => void
}

/** Sound among the words of an agent. `loops`: repetitions; 0 means until it is interrupted, 1 h at most. */
export interface AgentSound {
  readonly url: string
  readonly loops: number
}

/** Options of {@link CallAgent.say}. */
export interface AgentSayOptions {
  /** Default true. */
  readonly isInterruptible?: boolean
  /** Language of these words only, with its voice. */
  readonly language?: AgentLanguage
}

/** Recognitions that make the agent fall silent. */
export type AgentBarge = 'none' | 'partial' | 'complete' | 'any'

/**
 * Rules of turn-taking. Durations in milliseconds; 0 switches off what has no other minimum. A
 * document that names none has the values of `common/usual-turns.ts`.
 */
export interface AgentTurnSettings {
  /** Silence that ends the caller's turn. */
  readonly endOfSpeechMs: number
  /** Whether a source of meaning may end the turn earlier: the engine, or rules on the text. */
  readonly isSemantic: boolean
  /** Silence after which the source of meaning is asked. */
  readonly semanticMs: number
  /** Wait for the first recognised word after voice began. */
  readonly firstWordMs: number
  /** Silence of the recogniser that ends a turn without a final recognition. */
  readonly speechEventMs: number
  /** Longest turn of the caller. */
  readonly maxSpeechMs: number
  /** Lowest confidence (0 to 1) of a recognition that ends a turn. */
  readonly confidence: number
  /** Recognitions that interrupt. */
  readonly barge: AgentBarge
  /** Regular expression that a recognition must match to interrupt; default none. */
  readonly bargePattern?: string
  /** Lowest number of words that interrupt. */
  readonly bargeMinWords: number
  /** Lowest confidence (0 to 1) that interrupts. */
  readonly bargeConfidence: number
  /** Whether a listener's acknowledgements, such as "mm-hm", interrupt like other words; default false. */
  readonly bargeAcknowledgements?: boolean
  /** Whether running functions may be interrupted. */
  readonly bargeFunctions: boolean
  /** An interruption within this time of the answer's start joins the turn before; 0 is off. */
  readonly transparentBargeMs: number
  /** Instruction to the model after an interruption; default none. */
  readonly interruptPrompt?: string
  /** Silence of both sides after which the model is asked to speak; 0 is off. */
  readonly attentionMs: number
  readonly attentionPrompt?: string
  /** Time without a turn of the caller after which the conversation ends. */
  readonly inactivityMs: number
  /** Duration after which the conversation ends; absent: none. */
  readonly hardStopMs?: number
  /** Last instruction to the model before the hard stop; absent: none. */
  readonly hardStopPrompt?: string
  /** Wait for a further key. */
  readonly keyMs: number
  /** Keys that end an input of keys at once. */
  readonly keyTerminators: string
  /** Effect of a key: it is a turn, it only interrupts the agent, or it is ignored. Default `turns`. */
  readonly keys?: 'turns' | 'interrupt' | 'ignored'
  /**
   * Wait for any sound of an answer, after which the engine is asked again; default 5000, 0 is off. Off, an
   * answer that is being written may pause until the limit of inactivity.
   */
  readonly answerMs?: number
  /** Whether the agent stays silent until a turn contains this name; absent: always speaks. */
  readonly wakeName?: string
}

/** Options of {@link CallControl.startAgent}. */
export interface AgentOptions extends Cancellable {
  /** Engine by its name in the configuration; default the configured default. */
  readonly engine?: string
  /** Names of the document for model and recogniser; the operator's configuration maps them. */
  readonly model?: string
  readonly recogniser?: string
  /**
   * Source of the answers: the model, which is the default, or the handler, which speaks by
   * {@link CallAgent.say}. Turns have no answer of the engine then, and prompt and functions no effect.
   */
  readonly answers?: 'model' | 'handler'
  readonly prompt: string
  readonly functions: readonly AgentFunction[]
  /** Languages, the first one to begin with; at least one. */
  readonly languages: readonly AgentLanguage[]
  readonly hints: readonly string[]
  /** Rewriting of spoken text on its way to the voice. */
  readonly pronounce: readonly AgentRewrite[]
  /** Rewriting of recognised text. */
  readonly corrections: readonly AgentRewrite[]
  readonly modelSettings: AgentModelSettings
  readonly turns: AgentTurnSettings
  /** First words of the agent, exactly as written; default: the model speaks first. */
  readonly greeting?: { readonly text: string; readonly isInterruptible: boolean }
  /** Whether the caller speaks first; default false. */
  readonly waitForUser?: boolean
  /** Wait before the conversation begins, in milliseconds; default 0. */
  readonly initialDelayMs?: number
  /** Whether the conversation begins on hold; default false. */
  readonly isPaused?: boolean
  /** Earlier messages. */
  readonly history: readonly AgentMessage[]
  /** Gain of the agent's voice, in dB; default 0. */
  readonly volumeDb?: number
  /**
   * Runs a function. Called once per id. Never rejects: a failure is a text for the model. The signal fires
   * if its result is no longer wanted.
   */
  runFunction(call: AgentFunctionCall, signal: AbortSignal): Promise<AgentFunctionResult>
  /** Receives the events of the conversation, in order. */
  onEvent(event: AgentEvent): void
  /** Receives commands from outside the document; absent: the agent takes none. */
  readonly commands?: AgentCommands
}

/** Other role in the same conversation. */
export interface AgentReset {
  readonly systemPrompt?: string
  /** Message of the user that follows. */
  readonly userPrompt?: string
  /** Whether a summary replaces the history. */
  readonly consolidate: boolean
  /** Whether the history is dropped. */
  readonly fullReset: boolean
}

/** Commands to a conversation from outside its document, for instance by REST. None of them throws. */
export interface AgentCommands {
  /**
   * Adds a message, after changes of the role and of the global data; an empty content adds none. The model
   * answers messages of the user and the system.
   */
  message(
    message: AgentMessage,
    more?: {
      readonly reset?: AgentReset
      readonly globalData?: Readonly<Record<string, unknown>>
    },
  ): void
  /** Puts the agent on hold for some seconds at most, after it has spoken the prompt word for word. */
  hold(seconds: number, prompt?: string): void
  /** Ends a hold; the agent then answers to an instruction, or speaks it if a handler answers. */
  unhold(prompt?: string): void
  /** Ends the conversation. The document continues. */
  stop(): void
}

/** Times of one answer in microseconds since the epoch; only those that were measured. */
export interface AgentStamps {
  readonly speechStart?: number
  readonly lastWordEnd?: number
  readonly suspectedEnd?: number
  readonly turnDecided?: number
  readonly requestSent?: number
  readonly firstToken?: number
  readonly firstUtterance?: number
  /** The first packet of the answer left the gateway. */
  readonly firstAudio?: number
}

/** Event of a conversation. `at`: milliseconds since the epoch. */
export type AgentEvent = { readonly at: number } & (
  | { readonly kind: 'started'; readonly engine: string }
  /** Voice of the caller began or ended, as detected in the audio. */
  | { readonly kind: 'speech'; readonly state: 'began' | 'ended' }
  /** Recognised so far; `isBarge`: it interrupted the agent. */
  | { readonly kind: 'partial'; readonly text: string; readonly isBarge: boolean }
  /** Turn of the caller that is complete. `merged`: number of earlier turns that it contains. */
  | {
      readonly kind: 'user'
      readonly text: string
      readonly by: 'speech' | 'keys' | 'text'
      readonly confidence?: number
      readonly language?: string
      readonly startedAt?: number
      readonly endedAt?: number
      readonly merged: number
      readonly endedBy?: 'silence' | 'meaning' | 'engine' | 'limit'
    }
  /** Piece of text that the agent begins to speak. `isMore`: it continues the one before, also in a word. */
  | { readonly kind: 'utterance'; readonly text: string; readonly answer: string; readonly isMore?: true }
  /**
   * End of an answer. `spoken`: text that was given to the voice; `heard`: text that the caller heard.
   * `heardMs`: duration of its audio that left the gateway. `isBarged`: cut before its end, by the caller or
   * by the end of the call. With `isGivenUp`, the caller did not do it: the engine did not go on.
   */
  | {
      readonly kind: 'answer'
      readonly answer: string
      readonly spoken: string
      readonly heard: string
      readonly heardMs: number
      readonly isBarged: boolean
      readonly isGivenUp?: true
      /** Spoken word for word as the document demanded, not by the model. */
      readonly isExact: boolean
      readonly calls: readonly AgentFunctionCall[]
      readonly stamps: AgentStamps
    }
  /** Function call with its result. */
  | {
      readonly kind: 'function'
      readonly call: AgentFunctionCall
      readonly result: string
      readonly durationMs: number
      readonly outcome: 'finished' | 'failed' | 'canceled' | 'timeout' | 'unknown'
    }
  /**
   * The agent's speech was cut. `transparent`: the turn before continues, and the answer is dropped from the
   * history. `given-up`: the caller did not interrupt; the engine did not go on, or a limit was reached.
   */
  | {
      readonly kind: 'barge'
      readonly how: 'transparent' | 'normal' | 'given-up'
      readonly heardMs: number
      readonly text: string
      /** Input that interrupted; absent if none did. */
      readonly by?: 'speech' | 'keys' | 'text'
    }
  | { readonly kind: 'filler'; readonly text: string }
  | { readonly kind: 'attention' | 'hold' | 'unhold' }
  | { readonly kind: 'language'; readonly code: string }
  /** Use of the engines since the last event of this kind. */
  | {
      readonly kind: 'usage'
      readonly inputTokens: number
      readonly outputTokens: number
      readonly voiceCharacters: number
      readonly recognisedMs: number
    }
  /** Fault that does not end the conversation. */
  | { readonly kind: 'warning'; readonly code: string; readonly message: string }
  | { readonly kind: 'ended'; readonly end: AgentEnd }
)

/** Event of the live transcript of a conversation, for browsers and applications. `params`: its content. */
export interface AgentTranscriptEvent {
  readonly type:
    | 'start'
    | 'partial_result'
    | 'speech_detect'
    | 'transparent_barge'
    | 'response_utterance'
    | 'completion'
    | 'function_call'
    | 'warning'
    | 'stop'
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * End of a conversation. `stopped`: {@link CallAgent.stop}. `hangup`: the call ended. `inactive`: no turn for
 * the configured time. `limit`: the hard stop. `failed`: no engine could go on; `code` names the cause.
 */
export type AgentEnd =
  | { readonly kind: 'stopped' | 'hangup' | 'inactive' | 'limit' }
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string }

/** Changes of a running conversation; absent members stay as they are. */
export interface AgentChange {
  readonly prompt?: string
  readonly functions?: readonly AgentFunction[]
  readonly hints?: readonly string[]
  readonly corrections?: readonly AgentRewrite[]
  readonly modelSettings?: AgentModelSettings
  readonly turns?: Partial<AgentTurnSettings>
  /** Language to speak and to understand from now on, by its code, or a further language. */
  readonly language?: string | AgentLanguage
  /** Replaces the history that the model sees. Functions that are running stay in it, with their results. */
  readonly history?: readonly AgentMessage[]
}

/** Running voice agent. After its end, its methods except {@link CallAgent.summarize} have no effect. */
export interface CallAgent {
  readonly id: string
  /** Maximum duration of a function in milliseconds, as configured. */
  readonly functionTimeoutMs: number
  /** End of the conversation. Never rejects. */
  readonly ended: Promise<AgentEnd>
  change(change: AgentChange): void
  /**
   * Adds a message to the conversation. `respond`: whether the model answers it now. A message of the user
   * that is answered is a turn, which the event `user` reports.
   */
  message(message: AgentMessage, respond: boolean): void
  /**
   * Speaks a text word for word, after what is being spoken. Resolves when it was heard or interrupted. Texts
   * that are being written, sounds, and texts with a language need an agent that the handler answers.
   */
  say(what: string | AgentText | AgentSound, options?: AgentSayOptions): Promise<void>
  /** Drops what is being said and what waits to be said. */
  cut(): void
  /**
   * Resolves when the agent is silent: everything decided so far was heard or interrupted. After ten seconds
   * it resolves with false, and the agent goes on speaking.
   */
  quiet(): Promise<boolean>
  /** Agent neither listens nor speaks until {@link unhold}, for instance while verbs act on the call. */
  hold(): void
  unhold(): void
  /** Lets the caller's next words, or this time, pass before the model speaks. */
  waitForUser(ms?: number): void
  /**
   * Plays a sound behind the conversation, endless or `loops` times; undefined stops it. Prompts of the call
   * are heard without it. A sound that cannot be loaded is a warning.
   */
  background(
    sound: { readonly url: string; readonly volumeDb: number; readonly loops?: number } | undefined,
  ): void
  /**
   * Asks a model about the conversation, outside of it: the caller hears nothing, and the history stays.
   * Works also after the end, if called at once. Settles within 15 s. Rejects with `VerbFailed` if no model
   * can answer.
   */
  summarize(instruction: string): Promise<string>
  /** Ends the conversation, after what is being spoken: at most 10 s. Idempotent. */
  stop(): void
}
