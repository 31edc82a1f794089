import type { Cancellable } from './cancel.ts'

/** What to record of the call, and when to end. A signal ends it with the reason `stopped`. */
export interface RecordOptions extends Cancellable {
  /** Default `wav`. */
  readonly format?: 'wav' | 'mp3'
  /**
   * `in` is what the caller says, `out` what the caller hears; `both` mixes them, `stereo` has `in` on the left and `out` on the right.
   * Whoever the caller is connected to meanwhile is a part of `out`. Default `in`.
   */
  readonly tracks?: 'in' | 'out' | 'both' | 'stereo'
  /** A tone before the beginning, which is not recorded; default false. */
  readonly beep?: boolean
  /** Keys that end it; default none. */
  readonly terminators?: string
  /** Ends it after so much silence of the caller; default never. */
  readonly endSilenceMs?: number
  /** Ends it when the caller says nothing for so long from the beginning; default as `endSilenceMs`, and
   * `Infinity` bears any. */
  readonly initialSilenceMs?: number
  /** How soon a sound counts as said, 0 (only what is loud) to 100 (also what is soft); default 44. */
  readonly sensitivity?: number
  /** Longest recording, with the silence of pauses that is put there; default as long as the call. */
  readonly maxMs?: number
  /** Cuts silence off the beginning and the end; default false. */
  readonly trim?: boolean
  /** Where the file is sent once it is over, if there is one; it is kept here as well. Default nowhere. */
  readonly storage?: RecordingStorage
  /** What makes it, as the XML family says; default nothing that has a word there. */
  readonly source?: RecordingSource
  /** Whom its maker tells how it ended: where the gateway dies before that, it is told there all the same. */
  readonly status?: RecordingStatus
}

/** What makes a recording, in the words of the XML family. */
export type RecordingSource =
  | 'RecordVerb'
  | 'DialVerb'
  | 'Conference'
  | 'OutboundAPI'
  | 'StartCallRecordingApi'

/**
 * Who is told how a recording ended: by the form of the XML family, or by an event `calling.call.record`, of which `params` are a part. `events`:
 * of which ends, `completed` or `absent`; default of any.
 */
export type RecordingStatus = {
  readonly url: string
  readonly method: 'GET' | 'POST'
} & (
  | { readonly dialect: 'form'; readonly events: readonly string[] }
  | {
      readonly dialect: 'json'
      readonly events?: readonly string[]
      readonly params: Readonly<Record<string, unknown>>
    }
)

/** A customer's place for a recording. Its URL may hold secrets. */
export interface RecordingStorage {
  readonly url: string
  readonly method: 'PUT' | 'POST'
}

/** What was recorded, and why recording ended. */
export interface RecordResult {
  /** Unique for ever. */
  readonly id: string
  /** A link from which it can be fetched; works for a limited time. */
  readonly url: string
  /** `no-input`: nothing was said. `hangup`: the call ended. `error`: it could not be written; what was written is kept. */
  readonly reason: 'stopped' | 'silence' | 'no-input' | 'limit' | 'terminator' | 'hangup' | 'error'
  /** With the reason `terminator`. */
  readonly terminator?: string
  /** Of what the file holds. */
  readonly durationMs: number
  /** 0: there is no file, as there is no sound to keep. */
  readonly bytes: number
}

/** A recording in the background. What is told to one that is over does nothing. */
export interface CallRecording {
  readonly id: string
  readonly url: string
  /** Never rejects; settles after the call's end at the latest. */
  readonly ended: Promise<RecordResult>
  /**
   * With {@link RecordOptions.storage}: where the file is, a URL without user, password, query and fragment; undefined where it was not taken,
   * or there is none. Never rejects; settles minutes after `ended` where its server does not answer well.
   */
  readonly stored?: Promise<string | undefined>
  /** `skip` leaves the pause out, `silence` puts silence there. */
  pause(how: 'skip' | 'silence'): void
  resume(): void
  stop(): void
}
