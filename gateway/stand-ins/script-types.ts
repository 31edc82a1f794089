/** The script of the stand-ins: rules that say which answer follows on which event. */

/** Names of the stand-ins, as conditions and the journal use them. */
export const engineNames = [
  'realtime',
  'live',
  'gemini',
  'deepgram-agent',
  'elevenlabs-agent',
  'ultravox',
  'chat',
  'speech',
  'piper',
  'deepgram-speak',
  'elevenlabs-voice',
  'transcriptions',
  'vosk',
  'deepgram-listen',
  'deepgram-flux',
  'elevenlabs-recogniser',
  'relay',
] as const

/** Name of a stand-in. */
export type EngineName = (typeof engineNames)[number]

/** Events that a rule may wait for. */
export const triggerNames = ['connect', 'begin', 'turn', 'result'] as const

/**
 * - `connect`: a client asks for a connection, or sends a request.
 * - `begin`: the engine speaks first.
 * - `turn`: the caller's turn has ended.
 * - `result`: the client has answered a function call.
 */
export type TriggerName = (typeof triggerNames)[number]

/** Kinds of an error that an engine reports. */
export const errorKinds = ['unauthorised', 'limited', 'refused', 'server'] as const

/** Kind of an error: HTTP status 401, 429, 400 or 500, or the engine's own message of the same meaning. */
export type ErrorKind = (typeof errorKinds)[number]

/**
 * Faults and habits of real servers.
 *
 * - `malformed`: a message that is no JSON. `huge`: one of 10 MiB. `unknown`: an event of an unknown type.
 * - `twice`: the next answer is given twice; a function call has the same id both times.
 * - `truncate-error`: each later report of an interruption is answered by an error.
 * - `half-open`: the connection is accepted, and the handshake is never answered (`connect` only).
 * - The others are habits of servers of chat completions.
 */
export const quirkNames = [
  'malformed',
  'huge',
  'unknown',
  'twice',
  'truncate-error',
  'half-open',
  'no-index',
  'no-id',
  'repeat-name',
  'object-arguments',
  'whole-call',
  'stop-finish',
  'no-usage',
  'usage-in-last',
  'comments',
  'reasoning',
  'think-tags',
  'stream-error',
] as const

/** Name of a quirk. */
export type QuirkName = (typeof quirkNames)[number]

/** Audio of an action. */
export type ScriptedSound =
  | { readonly kind: 'speech' }
  /** Absolute path of a file. */
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'tone'; readonly hz: number; readonly ms: number }
  | { readonly kind: 'silence'; readonly ms: number }

/** One step of an answer. */
export type Action =
  /** Waits, in ms. */
  | { readonly kind: 'after'; readonly ms: number }
  /** Speaks. `pace`: default the script's. `cutMs`: sends only this much, and leaves the answer open. */
  | {
      readonly kind: 'say'
      readonly text: string
      readonly sound: ScriptedSound
      readonly pace?: number
      readonly cutMs?: number
    }
  /**
   * Calls a function. Without a name, the one that the condition `offers` found. Text arguments are sent
   * as they are, valid or not; without arguments, values are made from the function's schema. `isCut`:
   * only the first half of the call is sent.
   */
  | { readonly kind: 'call'; readonly name?: string; readonly args?: unknown; readonly isCut: boolean }
  | { readonly kind: 'quirk'; readonly name: QuirkName }
  | { readonly kind: 'error'; readonly error: ErrorKind }
  /** Closes the connection with a WebSocket code, or without a handshake. */
  | { readonly kind: 'close'; readonly how: number | 'abrupt' }
  /** Sends nothing more, and keeps the connection open. */
  | { readonly kind: 'stall' }

/** Condition of a rule: every given part must be true. */
export interface Condition {
  readonly on: TriggerName
  readonly engines?: readonly EngineName[]
  /** Number of the caller's turn, from 1. */
  readonly turn?: number
  /** Words or phrases, one of which the text contains; a final `*` allows any ending. */
  readonly contains?: readonly string[]
  readonly pattern?: RegExp
  /** Whether the turn interrupted an answer. */
  readonly interrupted?: boolean
  /** Name of the function that was answered. */
  readonly result?: string
  /**
   * Parts of names of functions, one of which the client must offer. `*`: any that neither ends nor moves the
   * call.
   */
  readonly offers?: readonly string[]
}

/** Rule of a script. */
export interface Rule {
  readonly when: Condition
  readonly actions: readonly Action[]
  /** Number of uses, counted over all connections; default no limit. */
  readonly times?: number
}

/** Script of the stand-ins. The first rule whose condition is true decides. */
export interface StandInScript {
  /** Speed of the audio, as a multiple of real time; 0: all at once. */
  readonly pace: number
  /** Texts that a recogniser understands, one for each turn of a connection. */
  readonly hears: readonly string[]
  /** Key that clients must present; default any. */
  readonly key?: string
  readonly rules: readonly Rule[]
}
