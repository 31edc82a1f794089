import {
  type CallControl,
  CallEnded,
  type RecordingStatusTarget,
  VerbFailed,
} from '../../../handlers/verbs.ts'
import { codeOf } from '../../core/errors/catalogue.ts'

/** Call of an operation. */
export interface OperationCall {
  readonly control: CallControl
  /** Sends an event of this call, with its ids. `ends`: recording whose end it reports. */
  sendEvent(type: string, params: Readonly<Record<string, unknown>>, ends?: string): void
  /**
   * Returns the status URL for the end of a recording if the gateway dies. Absent for an application, whose
   * session ends with the call.
   */
  recordingStatus?(params: Readonly<Record<string, unknown>>): RecordingStatusTarget | undefined
}

/** Kind of operation that a follow-up request (`calling.play.stop` …) names. */
export type OperationKind =
  | 'play'
  | 'record'
  | 'play_and_collect'
  | 'collect'
  | 'detect'
  | 'tap'
  | 'stream'
  | 'send_digits'
  | 'connect'
  | 'room'
  | 'refer'
  | 'ai'

/** Running verb, by the id from its request. */
export interface Operation {
  readonly kind: OperationKind
  /** Runs the operation. Settles after the last event; never rejects. */
  run(): Promise<void>
  /** Stops the operation. Idempotent. */
  stop(): void
  pause?(behaviour: 'skip' | 'silence'): void
  resume?(): void
  /** Changes the volume in dB. */
  setVolume?(db: number): void
  startTimers?(): void
}

/** Peculiarities of a client in the handling of events. */
export interface ClientQuirks {
  /**
   * Whether the client's promises settle only by success once an operation has begun (4.2). Such a client
   * receives a failure as an empty success with the field `error`.
   */
  readonly reportsSuccessOnly: boolean
}

/** Returns the code of a verb's failure in the error catalogue, for an event. */
export const failureCode = (error: unknown): string =>
  error instanceof VerbFailed ? error.code : codeOf(error)

/** Whether a verb was stopped or ended with the call, and did not fail. */
export const isOver = (error: unknown, stopped: AbortSignal): boolean =>
  error instanceof CallEnded || stopped.aborted
