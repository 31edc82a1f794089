import type { Cancellable } from './cancel.ts'

/** Options of {@link CallControl.record}. A signal ends the recording with the reason `stopped`. */
export interface RecordOptions extends Cancellable {
  /** File format; default `wav`. */
  readonly format?: 'wav' | 'mp3'
  /**
   * Audio to record; default `in`. `in` is the audio from the caller. `out` is the audio to the caller,
   * including a bridged party. `both` mixes them; `stereo` has `in` on the left and `out` on the right.
   */
  readonly tracks?: 'in' | 'out' | 'both' | 'stereo'
  /** Whether a tone, which is not recorded, precedes the recording; default false. */
  readonly beep?: boolean
  /** DTMF digits that end the recording; default none. */
  readonly terminators?: string
  /** Silence of the caller that ends the recording, in milliseconds; default none. */
  readonly endSilenceMs?: number
  /**
   * Silence of the caller from the start that ends the recording, in milliseconds; default `endSilenceMs`.
   * `Infinity` never ends it.
   */
  readonly initialSilenceMs?: number
  /** Sensitivity of voice detection, from 0 (loud sounds only) to 100 (soft sounds too); default 44. */
  readonly sensitivity?: number
  /**
   * Maximum duration in ms, including silence inserted by pauses; default: the maximum duration of the call.
   */
  readonly maxMs?: number
  /** Whether silence is trimmed from both ends; default false. */
  readonly trim?: boolean
  /** Server that receives a copy of a finished recording that is not empty; default none. */
  readonly storage?: RecordingStorage
  /** Origin of the recording in the vocabulary of the XML family; default none. */
  readonly source?: RecordingSource
  /**
   * Status callback that the handler sends at the end. If the gateway dies first, its next run or another
   * gateway sends the callback.
   */
  readonly statusTarget?: RecordingStatusTarget
}

/** Origin of a recording, in the vocabulary of the XML family. */
export type RecordingSource =
  | 'RecordVerb'
  | 'DialVerb'
  | 'Conference'
  | 'OutboundAPI'
  | 'StartCallRecordingApi'

/**
 * Status callback for the end of a recording: a form of the XML family, or an event `calling.call.record`
 * that includes `params`. `events` are the ends to report, `completed` or `absent`; default both.
 */
export type RecordingStatusTarget = {
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

/** Customer's storage for a recording. Its URL may contain secrets. */
export interface RecordingStorage {
  readonly url: string
  readonly method: 'PUT' | 'POST'
}

/** Result of {@link CallControl.record}. */
export interface RecordResult {
  /** Id that is never reused. */
  readonly id: string
  /** Link to the file; it expires. */
  readonly url: string
  /**
   * Reason for the end. `no-input`: the caller was silent. `hangup`: the call ended. `error`: writing failed,
   * and the audio written so far is kept.
   */
  readonly reason: 'stopped' | 'silence' | 'no-input' | 'limit' | 'terminator' | 'hangup' | 'error'
  /** Digit that ended the recording; present with the reason `terminator`. */
  readonly terminator?: string
  /** Duration of the audio in the file, in milliseconds. */
  readonly durationMs: number
  /** Size of the file; 0 means that there was no sound to keep, and no file. */
  readonly bytes: number
}

/** Recording in the background. Its methods have no effect after its end. */
export interface CallRecording {
  readonly id: string
  readonly url: string
  /** Result of the recording. Never rejects; settles after the end of the call at the latest. */
  readonly ended: Promise<RecordResult>
  /**
   * URL of the copy in {@link RecordOptions.storage}, without user, password, query and fragment; undefined
   * if the storage rejected the copy or there is no file. Never rejects. Settles minutes after `ended` if the
   * storage does not respond.
   */
  readonly stored?: Promise<string | undefined>
  /** Pauses the recording. `skip` omits the pause from the file, `silence` fills it with silence. */
  pause(how: 'skip' | 'silence'): void
  resume(): void
  stop(): void
}
