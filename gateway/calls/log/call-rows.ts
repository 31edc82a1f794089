import type { Code } from '../../core/errors/catalogue.ts'
import type { Listed, ListPage } from '../../directory/model/resource-types.ts'
import type { StatusTarget } from '../../model.ts'

/** Progress of a call, or its outcome. */
export type CallStatus =
  | 'queued'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'failed'
  | 'no-answer'
  | 'canceled'

/**
 * A call as customers see it: one for the caller, and one for each callee that the call dials. Times in ms
 * since 1970.
 */
export interface CallRow {
  readonly id: string
  readonly projectId: string
  /** Call that has dialed this one, if any. */
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
  /** Code of the end. */
  readonly code?: Code
  readonly sipStatus?: number
  readonly answeredBy?: 'human' | 'machine'
  /** Name of the requested document, or its URL without credentials. */
  readonly document?: string
  /** URL that receives the states. Another gateway reports the end there if this one stops. */
  readonly statusTarget?: StatusTarget
}

/**
 * Search for calls. `from` and `to` are numbers, names or whole URIs. Times in ms since 1970; `…From` is
 * inclusive, `…Until` exclusive. A search by the end sorts by the end.
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

/** Change of a row in progress. */
export type CallRowChange = Partial<
  Pick<CallRow, 'status' | 'ringingAt' | 'answeredAt' | 'answeredBy' | 'document' | 'statusTarget'>
>

/** Change that ends a row. */
export type CallEndChange = Required<Pick<CallRow, 'status' | 'endedAt'>> &
  Pick<CallRow, 'code' | 'sipStatus'>

/**
 * Stores the rows of calls in progress. Runs on the call path: it writes in the background, and never throws.
 */
export interface CallRowStore {
  /** Adds a row with the status `queued`. */
  began(call: Omit<CallRow, 'status'>): CallRow
  /** Returns the changed row; undefined if it is not in progress. */
  changed(id: string, change: CallRowChange): CallRow | undefined
  /** Returns the ended row; undefined if it was not in progress. */
  ended(id: string, end: CallEndChange): CallRow | undefined
  inProgress(id: string): CallRow | undefined
}

/** Calls and branches in progress, in memory. */
export interface CallsInProgress {
  inProgress(id: string): CallRow | undefined
  /** Returns the branches of a call. */
  calledBy(id: string): readonly CallRow[]
}

/** Reads calls in progress and ended calls of one project, newest first. */
export interface CallHistory {
  find(projectId: string, id: string): Promise<CallRow | undefined>
  /**
   * Returns a page. Its `total` counts the rows up to the page, and one more if there is a further page.
   * Throws `invalid_field` for a page beyond 100,000 rows.
   */
  list(projectId: string, query: CallQuery): Promise<Listed<CallRow>>
  /** Removes an ended call with its CDRs. Throws `unknown_call` or `call_in_progress`. */
  remove(projectId: string, id: string): Promise<void>
  /** Resolves when the store has all earlier changes. */
  settled(): Promise<void>
}
