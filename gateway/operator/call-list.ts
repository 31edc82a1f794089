import type { CallInProgress } from '../calls/call/live-call.ts'
import type { CallRow } from '../calls/log/call-rows.ts'
import type { Code } from '../core/errors/catalogue.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'

/** Calls in progress as the operator's requests read them. */
export interface OperatorCalls {
  /** Rows of calls and branches in progress. */
  readonly rowsInProgress: readonly CallRow[]
  inProgress(id: string): CallInProgress | undefined
}

/** Call in progress, as the API and the command line print it. */
export interface CallBody {
  readonly id: string
  readonly project_id: string
  readonly direction: CallRow['direction']
  readonly from: string
  readonly to: string
  readonly state: CallRow['status']
  readonly started_at: string
  readonly answered_at: string | null
  /** Seconds since the start. */
  readonly seconds: number
  /** Codecs of its legs. */
  readonly codecs: readonly string[]
  /** Carriers of its legs. */
  readonly carriers: readonly string[]
  /** Name of the document that controls the call, or its URL without credentials. */
  readonly handler: string | null
}

/** Returns the calls in progress, the oldest first. Branches that a call dials are parts of that call. */
export const callBodies = (calls: OperatorCalls, now: number): readonly CallBody[] =>
  calls.rowsInProgress
    .filter(({ parentId }) => parentId === undefined)
    .map((row) => {
      const legs = calls.inProgress(row.id)?.legs ?? []
      const open = legs.filter((leg) => !leg.isEnded)
      return {
        id: row.id,
        project_id: row.projectId,
        direction: row.direction,
        from: row.from,
        to: row.to,
        state: row.status,
        started_at: new Date(row.createdAt).toISOString(),
        answered_at: row.answeredAt === undefined ? null : new Date(row.answeredAt).toISOString(),
        seconds: Math.max(0, Math.floor((now - row.createdAt) / 1_000)),
        codecs: [...new Set(open.flatMap(({ port }) => port?.codec ?? []))],
        carriers: [...new Set(open.flatMap(({ facts }) => facts.carrier ?? []))],
        handler: row.document ?? null,
      }
    })

/** Minimum length of the beginning of an id. */
export const minIdLength = 4

/**
 * Returns the entry with an id, or the only one whose id begins with a text of four characters or more.
 * Returns undefined if no id matches. Throws `invalid_field` if several ids begin with the text.
 */
export const findById = <T extends { readonly id: string }>(
  entries: readonly T[],
  id: string,
): T | undefined => {
  const exact = entries.find((entry) => entry.id === id)
  if (exact || id.length < minIdLength) return exact
  const [first, second] = entries.filter((entry) => entry.id.startsWith(id))
  if (first && second)
    throw new TrunklineError('invalid_field', `Several calls have an id that begins with ${id}.`)
  return first
}

/** Reasons of the operator for the end of a call, with their codes. */
export const hangupCodes = {
  normal: 'normal',
  busy: 'busy',
  declined: 'declined',
  unavailable: 'not_online',
} as const satisfies Readonly<Record<string, Code>>

/** One of the {@link hangupCodes}. */
export type OperatorHangupReason = keyof typeof hangupCodes

/**
 * Ends a call in progress. Returns its id. Throws `unknown_call`, and `invalid_field` as in {@link findById}.
 */
export const endCall = (calls: OperatorCalls, id: string, reason: OperatorHangupReason): string => {
  const row = findById(calls.rowsInProgress, id)
  const call = row && calls.inProgress(row.id)
  if (!row || !call) throw new TrunklineError('unknown_call', `No call in progress has the id ${id}.`)
  call.end(hangupCodes[reason])
  return row.id
}
