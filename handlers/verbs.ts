/**
 * What a call can be told to do: the one interface that every handler kind (XML, script, call flow, realtime) is a spelling of.
 * The gateway implements it once. A handler sees no SIP, no SDP and no RTP.
 */

import type { Cancellable } from './verbs/cancel.ts'
import type { CallCollection, CollectOptions, CollectResult } from './verbs/collect.ts'
import type { ConferenceOptions, ConferenceResult } from './verbs/conference.ts'
import type { CodecName, ConnectOptions, ConnectResult } from './verbs/connect.ts'
import type { DetectOptions, DetectResult } from './verbs/detect.ts'
import type { CallInfo } from './verbs/info.ts'
import type { CallPlayback, PlayOptions, Sound } from './verbs/play.ts'
import type { QueueOptions, QueueResult } from './verbs/queue.ts'
import type { CallRecording, RecordOptions, RecordResult } from './verbs/recording.ts'
import type { ReferOptions, ReferResult } from './verbs/refer.ts'
import type { CallStream, StreamOptions } from './verbs/stream.ts'

export type { Cancellable } from './verbs/cancel.ts'
export type { CallCollection, CollectOptions, CollectResult, SpeechOptions } from './verbs/collect.ts'
export type {
  ConferenceEvent,
  ConferenceOptions,
  ConferenceResult,
  ConferenceSeat,
  RoomConference,
} from './verbs/conference.ts'
export type {
  Callee,
  CalleeState,
  CodecName,
  Connected,
  ConnectOptions,
  ConnectResult,
  Destination,
} from './verbs/connect.ts'
export type { DetectOptions, DetectResult, Finding, MachineOptions } from './verbs/detect.ts'
export type { CallInfo, Header, UserVariables } from './verbs/info.ts'
export type { CallPlayback, PlayEnd, PlayOptions, Sound } from './verbs/play.ts'
export type { QueueOptions, QueuePlace, QueueResult } from './verbs/queue.ts'
export type {
  CallRecording,
  RecordingSource,
  RecordingStatus,
  RecordingStorage,
  RecordOptions,
  RecordResult,
} from './verbs/recording.ts'
export type { ReferOptions, ReferResult } from './verbs/refer.ts'
export type { CallStream, StreamEnd, StreamOptions } from './verbs/stream.ts'

/** How to answer. */
export interface AnswerOptions {
  /** Longest duration of the call in milliseconds, counted from the answer; default 4 hours. */
  readonly maxDurationMs?: number
  /**
   * Codecs that may be spoken with the caller, the first that it offers first; default as configured. Where it offers none of them, the call is
   * refused. Audio that is open already keeps its codec.
   */
  readonly codecs?: readonly CodecName[]
}

/** Hang up plainly, or refuse an unanswered call: an answered one is hung up whatever the reason says. */
export type HangupReason = 'hangup' | 'busy' | 'decline' | 'no-answer' | 'error'

/** A verb begins, or ends. `id` is of one use of the verb. */
export interface VerbEvent {
  readonly verb: string
  readonly id: string
  readonly state: 'started' | 'finished' | 'failed' | 'canceled'
  /** Milliseconds since the epoch. */
  readonly at: number
  /** With `failed`: a code of the error catalogue. */
  readonly code?: string
}

/** How long the caller hears itself. */
export interface EchoOptions extends Cancellable {
  readonly timeoutMs: number
}

/** What a held caller hears. */
export interface HoldOptions {
  /** Played again and again; default the built-in hold music. */
  readonly music?: readonly Sound[]
}

/**
 * The verbs. Each one settles exactly once. All reject with {@link CallEnded} when the call is over or ends while they are pending (a
 * `connect` that had found somebody, a `record`, a `refer` that was sent, a `joinConference` and an `enterQueue` resolve instead), and with {@link VerbFailed} when they cannot do their
 * work; the call goes on then in the state it had.
 */
export interface CallControl {
  readonly info: CallInfo
  /** Fires when the call is over. */
  readonly signal: AbortSignal
  /** True once the caller has been answered. */
  readonly answered: boolean
  /** Tells of every verb, until the function that comes back is called. A listener that throws is logged. */
  onVerb(listener: (event: VerbEvent) => void): () => void
  /** Tells of every key that the caller presses, until the function that comes back is called. */
  onDigit(listener: (digit: string) => void): () => void
  answer(options?: AnswerOptions): Promise<void>
  /** Sends 180; nothing for a call that is answered. */
  ring(): Promise<void>
  play(options: PlayOptions): Promise<void>
  /** As {@link play}, but resolves when it begins. What was being played to the caller ends. */
  startPlay(options: PlayOptions): Promise<CallPlayback>
  collect(options: CollectOptions): Promise<CollectResult>
  /** As {@link collect}, but resolves when it begins. One collection at a time: an earlier one is stopped. */
  startCollect(options: CollectOptions): Promise<CallCollection>
  connect(options: ConnectOptions): Promise<ConnectResult>
  /** Takes part in a conference until the caller leaves it, answering the call first. Fails with `conference_*` codes. */
  joinConference(options: ConferenceOptions): Promise<ConferenceResult>
  /** Waits in a queue, answering the call first, until somebody takes the caller and the two are parted again, or the wait is over. */
  enterQueue(options: QueueOptions): Promise<QueueResult>
  /**
   * Gives the caller's audio to a WebSocket or RTP address, answering the call first. Resolves when it begins to connect; what becomes of that
   * is told by {@link CallStream.ended}. It ends with the call. Fails with `bad_stream` for options that cannot be used, and when the call
   * has four already.
   */
  startStream(options: StreamOptions): Promise<CallStream>
  /** Stops the stream of this name; false where there is none. */
  stopStream(name: string): boolean
  /**
   * Records the caller, answering the call first, and settles when that is over. When the call ends meanwhile it resolves, too. Fails with
   * `recording_no_space` where the disk is too full, and with `too_many_recordings` when the call has four under way.
   */
  record(options: RecordOptions): Promise<RecordResult>
  /** As {@link record}, but resolves when it begins; it ends with the call at the latest. */
  startRecording(options: RecordOptions): Promise<CallRecording>
  /** The caller, who is answered first, hears what it says, for so long. */
  echo(options: EchoOptions): Promise<void>
  /** Tells a machine from a person, and finds tones, by listening to the caller. */
  detect(options: DetectOptions): Promise<DetectResult>
  /** `0-9 * # A-D`, `w` waits 0.5 s, `W` 1 s. */
  sendDigits(digits: string, options?: Cancellable): Promise<void>
  /**
   * The caller, who is answered first, hears music in place of all else, and nobody hears the caller, until {@link unhold}; digits still count,
   * and what is played meanwhile is heard before the music goes on. Whoever it is connected to hears music too.
   */
  hold(options?: HoldOptions): Promise<void>
  /** Harmless when the caller is not held. */
  unhold(): Promise<void>
  /** Asks the caller's telephone to call somebody else in our place. Fails with `refer_unsupported` where it cannot be asked. */
  refer(options: ReferOptions): Promise<ReferResult>
  /** Tells a browser on the call; false where the caller's side cannot be told. At most 16 kB of JSON. */
  userEvent(event: Readonly<Record<string, unknown>>): boolean
  sleep(ms: number, options?: Cancellable): Promise<void>
  hangup(reason?: HangupReason): Promise<void>
}

/** The call is over; a handler lets this pass. */
export class CallEnded extends Error {
  constructor() {
    super('The call is over.')
    this.name = 'CallEnded'
  }
}

/** Another document has the call from now on: for the one that had it the call is over, as it is after {@link CallEnded}. */
export class CallRedirected extends CallEnded {
  constructor() {
    super()
    this.name = 'CallRedirected'
  }
}

/** A verb could not do its work; `code` is of the gateway's error catalogue or of the handler's language. */
export class VerbFailed extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'VerbFailed'
    this.code = code
  }
}
