import {
  type CallControl,
  CallEnded,
  type RecordingStatusTarget,
  VerbFailed,
} from '../../../handlers/verbs.ts'
import { codeOf } from '../../core/errors/catalogue.ts'

/** The call that an operation is of. */
export interface OperationCall {
  readonly control: CallControl
  /** Sends an event of this call; its ids are added. `ends`: the recording whose end it tells. */
  sendEvent(type: string, params: Readonly<Record<string, unknown>>, ends?: string): void
  /** Whom the end of a recording is told to where the gateway dies: nobody where an application does, which is gone with the call. */
  recordingStatus?(params: Readonly<Record<string, unknown>>): RecordingStatusTarget | undefined
}

/** What `kind` a follow-up request (`calling.play.stop` …) is about. */
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
  | 'refer'

/** A verb at work, by the id that the application gave it. */
export interface Operation {
  readonly kind: OperationKind
  /** Begins. Settles once the last event has been sent; never rejects. */
  run(): Promise<void>
  /** Ends it; harmless when it is over. */
  stop(): void
  pause?(behaviour: 'skip' | 'silence'): void
  resume?(): void
  /** In dB. */
  setVolume?(db: number): void
  startTimers?(): void
}

/** How a client takes events. */
export interface ClientQuirks {
  /**
   * Its promises, once an operation has begun, settle with success alone (4.2): a failure is told to it as a success with nothing in it, and
   * with the field `error`.
   */
  readonly reportsSuccessOnly: boolean
}

/** Why a verb failed, for an event: a code of the error catalogue. */
export const failureCode = (error: unknown): string =>
  error instanceof VerbFailed ? error.code : codeOf(error)

/** Whether a verb ended because it was stopped or the call is over, and not because it failed. */
export const isOver = (error: unknown, stopped: AbortSignal): boolean =>
  error instanceof CallEnded || stopped.aborted
