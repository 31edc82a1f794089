/**
 * What a call can be told to do: the one interface that every handler kind (XML, script, call flow, realtime) is a spelling of.
 * The gateway implements it once. A handler sees no SIP, no SDP and no RTP.
 */

import type { CallRecording, RecordOptions, RecordResult } from './recording.ts'

export type { CallRecording, RecordOptions, RecordResult } from './recording.ts'

/** Something that can be played to a call. */
export type Sound =
  /** Audio fetched over HTTP(S), or of the folder for sounds (`file:`); WAV, MP3 or Ogg with Opus. */
  | { readonly kind: 'audio'; readonly url: string }
  /** Text to speak, which may hold SSML; voice and language fall back to the configured ones. */
  | { readonly kind: 'speech'; readonly text: string; readonly voice?: string; readonly language?: string }
  | { readonly kind: 'silence'; readonly ms: number }
  /** Ringing tone of a country (ISO 3166 alpha-2, default `us`), for `ms` (default: until stopped). */
  | { readonly kind: 'ringtone'; readonly country?: string; readonly ms?: number }

/** What is known of a call when its handler starts. */
export interface CallInfo {
  readonly callId: string
  readonly direction: 'inbound' | 'outbound'
  /** How the first leg arrived. */
  readonly type: 'sip' | 'webrtc'
  /** SIP URI or address of the caller. */
  readonly from: string
  /** SIP URI or address that was called. */
  readonly to: string
  /** User part of `from` and `to` (for a browser, the address's name). */
  readonly fromUser: string
  readonly toUser: string
  /** Caller's display name; empty when there is none. */
  readonly fromName: string
  /** Application headers (`X-…`) of the INVITE, in order. */
  readonly headers: readonly Header[]
  /** Id of the project that owns the handler. */
  readonly projectId: string
  /** SIP's own ids, for webhooks; absent for browser calls. */
  readonly sip?: { readonly callId: string; readonly domain: string; readonly sourceAddress: string }
}

/** A header field. */
export interface Header {
  readonly name: string
  readonly value: string
}

/** How to answer. */
export interface AnswerOptions {
  /** Longest duration of the call in milliseconds, counted from the answer; default 4 hours. */
  readonly maxDurationMs?: number
}

/** How to play. */
export interface PlayOptions {
  readonly sounds: readonly Sound[]
  /** −40 … 40 dB; default 0. */
  readonly volumeDb?: number
  /** How often the whole list is played; 0 means until stopped; default 1. */
  readonly loop?: number
  /** Answer first when the call is not answered yet (default); `false` plays as early media. */
  readonly autoAnswer?: boolean
}

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
export interface CollectOptions {
  /** Played first; the first digit, or the beginning of speech, stops it (barge-in). */
  readonly prompt?: PlayOptions
  /**
   * Collects speech too. The first digit ends that; a terminator during speech ends the speech. Default: digits alone.
   */
  readonly speech?: SpeechOptions
  /** False: speech alone, and keys mean nothing. Default true. */
  readonly digits?: boolean
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
}

/** What was collected, and why collecting ended. */
export interface CollectResult {
  /**
   * Why it ended: the full number of digits, a terminator, a pause, something was said, there was no input, or (`error`) there was none and
   * speech could not be understood.
   */
  readonly reason: 'complete' | 'terminator' | 'inter-digit-timeout' | 'speech' | 'no-input' | 'error'
  readonly digits: string
  readonly terminator?: string
  /** With the reason `speech`; `confidence` from 0 to 1 where the recogniser tells. */
  readonly speech?: { readonly text: string; readonly confidence?: number }
}

/** Audio of the call, given to somebody outside. */
export interface StreamOptions {
  /** `ws:` or `wss:`, or `rtp://host:port?codec=PCMU` (or PCMA). */
  readonly url: string
  /** By which {@link CallControl.stopStream} finds it; one of a name at a time. Default none. */
  readonly name?: string
  /** `inbound` is what the caller says, `outbound` what the caller hears. Default `inbound`. */
  readonly tracks?: 'inbound' | 'outbound' | 'both'
  /** The caller hears what comes back; default false. */
  readonly bidirectional?: boolean
  /** Of a WebSocket: µ-law (default), or 16 bit, little-endian. */
  readonly codec?: 'PCMU' | 'L16'
  /** Samples per second of L16; default 16,000. */
  readonly sampleRate?: 8000 | 16000
  /** Told to a WebSocket's server at the start. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Sent to a WebSocket's server as `Authorization: Bearer`. A secret. */
  readonly bearerToken?: string
}

/** How a stream ended: by us (stopped, or the call is over), by the far side, or by a failure. */
export type StreamEnd =
  | { readonly kind: 'stopped' | 'closed' }
  | { readonly kind: 'failed'; readonly reason: string }

/** A stream in progress. */
export interface CallStream {
  readonly id: string
  /** Never rejects. */
  readonly ended: Promise<StreamEnd>
  /** Idempotent. */
  stop(): void
}

/** One place to call. */
export interface Destination {
  /** A SIP URI (`sip:`, `sips:`), an address `/context/name`, or an E.164 number for the default carrier. */
  readonly to: string
  /** Caller id to present; default the caller's own. */
  readonly from?: string
  readonly fromName?: string
  /** Further headers of the INVITE. Values are already decoded. */
  readonly headers?: readonly Header[]
  /** Digest credentials for the carrier. */
  readonly username?: string
  readonly password?: string
  /** Ring time; default that of {@link ConnectOptions}. */
  readonly timeoutMs?: number
  /** Codecs to offer by SIP, in this order, as far as the configuration permits them; default all that it does. */
  readonly codecs?: readonly CodecName[]
}

/** A codec, by its name in SDP. */
export type CodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus' | 'L16'

/** How to connect. */
export interface ConnectOptions {
  /** Tried one after the other; the destinations inside a step ring together, and the first answer wins. */
  readonly steps: readonly (readonly Destination[])[]
  /** Ring time of a destination; default 60 s. */
  readonly timeoutMs?: number
  /** Longest time together; default 4 hours. */
  readonly maxDurationMs?: number
  /** Leave the caller unanswered until the callee answers; default false. */
  readonly answerOnBridge?: boolean
  /** What the caller hears until the callee sends early media or answers; default a ringing tone. */
  readonly ringback?: readonly Sound[]
}

/** Outcome of {@link CallControl.connect}. It settles when the two were parted again, or when nobody could be had. */
export type ConnectResult =
  | {
      readonly kind: 'connected'
      /** Whose hang-up ended it; after `caller` the call is over too. */
      readonly endedBy: 'caller' | 'callee' | 'limit'
      /** Time together in milliseconds. */
      readonly durationMs: number
      readonly calleeCallId: string
    }
  | {
      readonly kind: 'failed'
      readonly reason: 'busy' | 'no-answer' | 'declined' | 'unreachable' | 'error'
      /** SIP status of the last refusal, where there was one. */
      readonly sipStatus?: number
      /** Code of the gateway's error catalogue. */
      readonly code: string
    }

/** Hang up plainly, or refuse an unanswered call as busy or declined. */
export type HangupReason = 'hangup' | 'busy' | 'decline'

/**
 * The verbs. Each one settles exactly once. All reject with {@link CallEnded} when the call is over or ends while they are pending (a
 * `connect` that had found somebody and a `record` resolve instead), and with {@link VerbFailed} when they cannot do their work; the call goes on then
 * in the state it had.
 */
export interface CallControl {
  readonly info: CallInfo
  /** Fires when the call is over. */
  readonly signal: AbortSignal
  /** True once the caller has been answered. */
  readonly answered: boolean
  answer(options?: AnswerOptions): Promise<void>
  play(options: PlayOptions): Promise<void>
  collect(options: CollectOptions): Promise<CollectResult>
  connect(options: ConnectOptions): Promise<ConnectResult>
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
  /** `0-9 * # A-D`, `w` waits 0.5 s, `W` 1 s. */
  sendDigits(digits: string): Promise<void>
  sleep(ms: number): Promise<void>
  hangup(reason?: HangupReason): Promise<void>
}

/** The call is over; a handler lets this pass. */
export class CallEnded extends Error {
  constructor() {
    super('The call is over.')
    this.name = 'CallEnded'
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
