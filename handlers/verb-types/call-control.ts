import type { AgentCommands, AgentOptions, AgentTranscriptEvent, CallAgent } from './agent.ts'
import type { Cancellable } from './cancel.ts'
import type { CallCollection, CollectOptions, CollectResult } from './collect.ts'
import type { ConferenceOptions, ConferenceResult } from './conference.ts'
import type { CodecName, ConnectOptions, ConnectResult } from './connect.ts'
import type { DetectOptions, DetectResult } from './detect.ts'
import type { CallInfo, CallTimes } from './info.ts'
import type { CallPlayback, PlayOptions, Sound } from './play.ts'
import type { QueueOptions, QueueResult } from './queue.ts'
import type { CallRecording, RecordOptions, RecordResult } from './recording.ts'
import type { ReferOptions, ReferResult } from './refer.ts'
import type { RoomOptions, RoomResult } from './room.ts'
import type { CallStream, StreamOptions } from './stream.ts'

/** Options of {@link CallControl.answer}. */
export interface AnswerOptions {
  /** Maximum duration of the call, counted from the answer, in milliseconds; default 4 hours. */
  readonly maxDurationMs?: number
  /**
   * Codecs to accept from the caller; default as configured. The caller's order of preference decides. A
   * caller who offers none of them is rejected. Audio that is already open keeps its codec.
   */
  readonly codecs?: readonly CodecName[]
}

/**
 * Reason for ending a call. An unanswered call is rejected with the matching SIP status; an answered call is
 * hung up whatever the reason.
 */
export type HangupReason = 'hangup' | 'busy' | 'decline' | 'no-answer' | 'error'

/** Start or end of one use of a verb. */
export interface VerbEvent {
  /** Name of the verb. */
  readonly verb: string
  /** Id of this use of the verb. */
  readonly id: string
  readonly state: 'started' | 'finished' | 'failed' | 'canceled'
  /** Time of the event, in milliseconds since the epoch. */
  readonly at: number
  /** Code of the error catalogue; present if the state is `failed`. */
  readonly code?: string
}

/** Options of {@link CallControl.echo}. */
export interface EchoOptions extends Cancellable {
  /** Duration of the echo, in milliseconds. */
  readonly timeoutMs: number
}

/** Options of {@link CallControl.hold}. */
export interface HoldOptions {
  /** Sounds that repeat until the caller is resumed; default the built-in hold music. */
  readonly music?: readonly Sound[]
}

/**
 * The verbs of one call. Each verb settles exactly once.
 *
 * A verb rejects with `VerbFailed` if it cannot do its work; the call then continues in its present
 * state. A verb rejects with `CallEnded` if the call has ended or ends while the verb is pending. Six
 * verbs resolve instead: `connect` after the callee has answered, `record`, `refer` after the request was
 * sent, `joinConference`, `joinRoom` and `enterQueue`.
 */
export interface CallControl {
  readonly info: CallInfo
  /** Signal that aborts when the call ends. */
  readonly signal: AbortSignal
  /** Whether the caller has been answered. */
  readonly isAnswered: boolean
  /** Times of the caller's leg. */
  readonly times: CallTimes
  /**
   * Subscribes to the start and end of every verb. Returns a function that unsubscribes. An error that the
   * listener throws is logged.
   */
  onVerb(listener: (event: VerbEvent) => void): () => void
  /** Subscribes to the DTMF digits that the caller sends. Returns a function that unsubscribes. */
  onDigit(listener: (digit: string) => void): () => void
  /** Answers the call. */
  answer(options?: AnswerOptions): Promise<void>
  /** Sends 180 Ringing. Has no effect on an answered call. */
  ring(): Promise<void>
  /** Plays sounds to the caller and resolves at their end. */
  play(options: PlayOptions): Promise<void>
  /** Plays as {@link play} does, but resolves at the start. Stops the sounds that the caller is hearing. */
  startPlay(options: PlayOptions): Promise<CallPlayback>
  /** Collects digits, speech or both from the caller. */
  collect(options: CollectOptions): Promise<CollectResult>
  /** Collects as {@link collect} does, but resolves at the start. Stops an earlier collection. */
  startCollect(options: CollectOptions): Promise<CallCollection>
  /** Calls destinations and bridges the caller to the first one that answers. */
  connect(options: ConnectOptions): Promise<ConnectResult>
  /**
   * Adds the caller to a conference and resolves when the caller leaves it. Answers the call first. Rejects
   * with `conference_*` codes.
   */
  joinConference(options: ConferenceOptions): Promise<ConferenceResult>
  /**
   * Makes the caller a member of a room and resolves when the caller leaves it. Rejects with `room_full`,
   * `room_locked` or `room_not_open` before it answers the call, if the room does not admit the caller.
   */
  joinRoom(options: RoomOptions): Promise<RoomResult>
  /**
   * Places the caller in a queue. Answers the call first. Resolves when the wait ends, or when a bridge to
   * the call that took the caller from the queue ends.
   */
  enterQueue(options: QueueOptions): Promise<QueueResult>
  /**
   * Streams the caller's audio to a WebSocket or RTP address. Answers the call first. Resolves when the
   * connection attempt starts; {@link CallStream.ended} reports its outcome. The stream ends with the call.
   * Rejects with `bad_stream` for invalid options, and for a fifth stream of the call.
   */
  startStream(options: StreamOptions): Promise<CallStream>
  /** Stops the stream of a name. Returns false if the call has no stream of that name. */
  stopStream(name: string): boolean
  /**
   * Records the caller and resolves at the end of the recording. Answers the call first. Rejects with
   * `recording_no_space` if the disk is too full, and with `too_many_recordings` for a fifth recording at
   * once.
   */
  record(options: RecordOptions): Promise<RecordResult>
  /**
   * Records as {@link record} does, but resolves at the start. The recording ends with the call at the
   * latest.
   */
  startRecording(options: RecordOptions): Promise<CallRecording>
  /**
   * Starts a voice agent that talks to the caller. Answers the call first. Resolves when an engine is being
   * connected; {@link CallAgent.ended} reports the end. Sounds of other verbs take precedence over the agent.
   * Rejects with `agents_unavailable` if no engine is configured, and with `agent_busy` if the call has an
   * agent already or the project has too many.
   */
  startAgent(options: AgentOptions): Promise<CallAgent>
  /**
   * {@link AgentOptions.commands} of the agent that talks to the caller, whichever handler started it. Absent
   * without an agent.
   */
  readonly agentCommands?: AgentCommands | undefined
  /**
   * Reports an event of the agent's live transcript to the caller's browser. In a call to an address, the
   * party that is connected to the address receives it; see also {@link Destination.onTranscript}.
   */
  reportTranscript(event: AgentTranscriptEvent): void
  /** Plays the caller's own audio back to the caller. Answers the call first. */
  echo(options: EchoOptions): Promise<void>
  /** Listens to the caller to distinguish a person from an answering machine, and to detect tones. */
  detect(options: DetectOptions): Promise<DetectResult>
  /** Sends DTMF digits to the caller: `0-9 * # A-D`; `w` waits 0.5 s, `W` waits 1 s. */
  sendDigits(digits: string, options?: Cancellable): Promise<void>
  /**
   * Puts the caller on hold until {@link unhold}. Answers the call first. The caller hears music and is
   * muted. A bridged callee hears music too. The caller's digits are still received. Sounds that a verb plays
   * interrupt the music.
   */
  hold(options?: HoldOptions): Promise<void>
  /** Resumes the caller. Has no effect if the caller is not on hold. */
  unhold(): Promise<void>
  /**
   * Transfers the caller to another destination by REFER (RFC 3515). Rejects with `refer_unsupported` if the
   * caller's side does not support it.
   */
  refer(options: ReferOptions): Promise<ReferResult>
  /**
   * Sends an event of at most 16 kB of JSON to the caller's browser. Returns false if the caller's side
   * cannot receive events.
   */
  sendUserEvent(event: Readonly<Record<string, unknown>>): boolean
  /** Waits, in milliseconds. */
  sleep(ms: number, options?: Cancellable): Promise<void>
  /** Ends the call; default reason `hangup`. */
  hangup(reason?: HangupReason): Promise<void>
}
