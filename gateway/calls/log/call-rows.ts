import type { Code } from '../../core/errors/catalogue.ts'
import type { Listed, ListPage } from '../../directory/resource-types.ts'
import type { StatusTarget } from '../../model.ts'

/** How far a call is, and how it ended. */
export type CallStatus =
  | 'queued'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'failed'
  | 'no-answer'
  | 'canceled'

/** A call as customers see it: one for whoever calls or is called first, and one for each that is called out of it. Times in ms since 1970. */
export interface CallRow {
  readonly id: string
  readonly projectId: string
  /** The call that made this one; absent: none did. */
  readonly parentId?: string
  readonly direction: 'inbound' | 'outbound-api' | 'outbound-dial'
  readonly type: 'sip' | 'webrtc'
  readonly from: string
  readonly to: string
  readonly status: CallStatus
  readonly createdAt: number
  readonly ringingAt?: number
  readonly answeredAt?: number
  readonly endedAt?: number
  /** Of its end. */
  readonly code?: Code
  readonly sipStatus?: number
  readonly answeredBy?: 'human' | 'machine'
  /** Name or URL of the document that was asked for, without credentials. */
  readonly document?: string
  /** Where its states are told, where it is in progress: if the gateway dies, its end is told there all the same. */
  readonly statusTarget?: StatusTarget
}

/**
 * What calls are looked for by. `from` and `to` are numbers or names, or whole URIs; times in ms since 1970, `…From` inclusive, `…Until` not. Where
 * it is asked when they ended, they are in the order of that.
 */
export interface CallQuery extends ListPage {
  readonly from?: string
  readonly to?: string
  readonly status?: CallStatus
  readonly parentId?: string
  readonly startedFrom?: number
  readonly startedUntil?: number
  readonly endedFrom?: number
  readonly endedUntil?: number
}

/**
 * Writes down calls while they go on. Called on the call path: it neither waits nor throws; writing happens behind.
 */
export interface CallRowLog {
  began(call: Omit<CallRow, 'status'>): void
  changed(
    id: string,
    change: Partial<
      Pick<CallRow, 'status' | 'ringingAt' | 'answeredAt' | 'answeredBy' | 'document' | 'statusTarget'>
    >,
  ): void
  ended(
    id: string,
    end: Required<Pick<CallRow, 'status' | 'endedAt'>> & Pick<CallRow, 'code' | 'sipStatus'>,
  ): void
}

/** Calls and called legs that are not over, in memory. */
export interface CallsInProgress {
  inProgress(id: string): CallRow | undefined
  /** The legs that a call has called. */
  calledBy(id: string): readonly CallRow[]
}

/** Reads calls, in progress and over, newest first. Nothing of another project is ever found. */
export interface CallHistory {
  find(projectId: string, id: string): Promise<CallRow | undefined>
  /**
   * A page; `total` is as many as it takes to know whether there is a further one, for counting all would read all. Throws `invalid_field` where
   * over 100,000 would be passed over.
   */
  list(projectId: string, query: CallQuery): Promise<Listed<CallRow>>
  /** Removes a call that is over, with its records. `unknown_call`, `call_in_progress`. */
  remove(projectId: string, id: string): Promise<void>
  /** Resolves when everything that was written before is in the store. */
  settled(): Promise<void>
}
