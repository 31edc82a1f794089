import { callbackRow } from '../callbacks/callback-row.ts'
import { newLegId } from '../calls/call/ids.ts'
import type { CallCdr, LegCdr } from '../calls/log/call-cdr.ts'
import type { CallRow } from '../calls/log/call-rows.ts'
import { cdrCallback } from '../calls/log/cdr-writer.ts'
import { statusCallback } from '../calls/log/status-callbacks.ts'
import { cdrsOf } from '../cdr/cdr-of.ts'
import { toCallRow } from '../cdr/stored-calls.ts'
import type { Clock } from '../core/clock.ts'
import { q850Of } from '../core/errors/catalogue.ts'
import type { CallbackRow } from '../directory/tables/callbacks.ts'
import type { StoredCall } from '../directory/tables/calls.ts'
import type { EndCalls } from '../directory/tables/interrupted.ts'
import type { StatusTarget } from '../model.ts'

/** Collaborators of {@link endLostCalls}. */
export interface LostCallsDeps {
  readonly clock: Pick<Clock, 'now'>
  /** Returns the URL that receives CDRs, if any. Called for each group of lost calls. */
  readonly cdrUrl?: () => string | undefined
}

/**
 * Ends the calls of a stopped gateway: failed, `interrupted`, at the time when it was last seen. Returns the
 * callbacks to their status URLs, and the CDRs of calls without a parent.
 */
export const endLostCalls =
  ({ clock, cdrUrl: cdrUrlOf }: LostCallsDeps): EndCalls =>
  (open, over, seenAt) => {
    const now = clock.now()
    const cdrUrl = cdrUrlOf?.()
    const calls = open.map((row) => endedCall(row, Math.min(seenAt, now)))
    const ended = cdrsOfCalls(calls, over)
    const callbacks = calls.map((row, i) => endCallbacks(row, { now, createdAt: now + i }))
    const posted = ended.map((cdr, i) => {
      if (cdrUrl === undefined) return []
      const from = { projectId: cdr.projectId, callId: cdr.call }
      return callbackRow(from, cdrCallback(cdr, cdrUrl), { now, createdAt: now + calls.length + i })
    })
    return {
      calls: calls.map((row) => ({ ...row, status_json: null })),
      cdrs: ended.flatMap(cdrsOf),
      callbacks: [...callbacks, ...posted].flat(),
    }
  }

/** Ends a row at the time when its gateway was last seen. */
const endedCall = (row: StoredCall, seenAt: number): StoredCall => {
  const { created_at: created, ringing_at: ringing, answered_at: answered } = row
  const endedAt = Math.max(seenAt, created, ringing ?? 0, answered ?? 0)
  return { ...row, status: 'failed', code: 'interrupted', ended_at: endedAt }
}

const endCallbacks = (
  stored: StoredCall,
  times: { readonly now: number; readonly createdAt: number },
): readonly CallbackRow[] => {
  if (stored.status_json === null) return []
  const target: StatusTarget = JSON.parse(stored.status_json)
  if (!target.states.includes('completed')) return []
  const row = toCallRow(stored)
  const change = { progress: 'completed', sequence: sequenceOf(target, row), nodeId: stored.node_id } as const
  const callback = statusCallback(target, row, { ...change, at: times.now })
  return [callbackRow({ projectId: row.projectId, callId: row.id }, { ...callback, ends: row.id }, times)]
}

/** Returns the number of states that were reported before, as far as the row shows. */
const sequenceOf = ({ states }: StatusTarget, { ringingAt, answeredAt }: CallRow): number => {
  const reached = {
    initiated: true,
    ringing: ringingAt !== undefined,
    answered: answeredAt !== undefined,
    completed: false,
  }
  return states.filter((state) => reached[state]).length
}

/** Builds the CDRs of calls without a parent, and of calls to addresses. Branches become their legs. */
const cdrsOfCalls = (ended: readonly StoredCall[], over: readonly StoredCall[]): readonly CallCdr[] => {
  const legs = [...over, ...ended].filter((row) => !hasOwnCdr(row))
  const called = Map.groupBy(legs, ({ parent_id: parent }) => parent)
  return ended
    .filter(hasOwnCdr)
    .map((row) => cdrOfCall(toCallRow(row), (called.get(row.id) ?? []).map(toCallRow)))
}

/** Whether a row has a CDR of its own, and is not a leg in another CDR. */
const hasOwnCdr = ({ parent_id: parent, direction }: StoredCall): boolean =>
  parent === null || direction === 'inbound'

const cdrOfCall = (call: CallRow, called: readonly CallRow[]): CallCdr => {
  const { direction, ...leg } = legOf(call, 'caller')
  const { id, projectId, createdAt: startedAt, endedAt = startedAt, answeredAt } = call
  const legs = called.toSorted((a, b) => a.createdAt - b.createdAt).map((each) => legOf(each, 'callee'))
  return {
    call: id,
    projectId,
    direction,
    from: leg.from,
    to: leg.to,
    domain: undefined,
    source: undefined,
    ...endOf(call),
    ...timesOf(call),
    endedAt,
    durationMs: endedAt - startedAt,
    answeredMs: answeredAt === undefined ? 0 : endedAt - answeredAt,
    legs: [{ ...leg, direction }, ...legs],
  }
}

/** Builds the CDR of a leg. Lost facts are undefined: its carrier, its codec, its counters. */
const legOf = (call: CallRow, role: LegCdr['role']): LegCdr => ({
  leg: newLegId(),
  role,
  kind: call.type === 'webrtc' ? 'browser' : 'sip',
  type: call.type,
  from: call.from,
  to: call.to,
  direction: call.direction === 'inbound' ? 'inbound' : 'outbound',
  carrier: undefined,
  sipCallId: undefined,
  codec: undefined,
  tries: [],
  audio: undefined,
  ...timesOf(call),
  ...endOf(call),
})

const timesOf = ({ createdAt: startedAt, ringingAt: ringAt, answeredAt, endedAt }: CallRow) => ({
  startedAt,
  ...(ringAt !== undefined && { ringAt }),
  ...(answeredAt !== undefined && { answeredAt }),
  ...(endedAt !== undefined && { endedAt }),
})

const endOf = ({ code, sipStatus }: CallRow) => ({
  code,
  by: code === 'interrupted' ? ('us' as const) : undefined,
  sipStatus,
  detail: undefined,
  q850: code && q850Of({ code }),
})
