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
import type { CallbackRow } from '../directory/callbacks.ts'
import type { StoredCall } from '../directory/calls.ts'
import type { EndCalls } from '../directory/interrupted.ts'
import type { StatusTarget } from '../model.ts'

/** What ending lost calls works with. */
export interface LostCallsDeps {
  readonly clock: Pick<Clock, 'now'>
  /** Returns the URL that receives the record of each call; called when calls are lost. Undefined without one. */
  readonly cdrUrl?: () => string | undefined
}

/**
 * Says how calls end whose gateway is gone: failed, `interrupted`, when it was there last. Whoever is to be told of that is, and those that
 * nobody had called out of another one have their records.
 */
export const endLostCalls =
  ({ clock, cdrUrl: urlOf }: LostCallsDeps): EndCalls =>
  (open, over, seenAt) => {
    const now = clock.now()
    const recordsTo = urlOf?.()
    const calls = open.map((row) => endedCall(row, Math.min(seenAt, now)))
    const records = recordsOf(calls, over)
    const callbacks = calls.map((row, i) => told(row, { now, createdAt: now + i }))
    const posted = records.map((record, i) => {
      if (recordsTo === undefined) return []
      const from = { projectId: record.projectId, callId: record.call }
      return callbackRow(from, cdrCallback(record, recordsTo), { now, createdAt: now + calls.length + i })
    })
    return {
      calls: calls.map((row) => ({ ...row, status_json: null })),
      cdrs: records.flatMap(cdrsOf),
      callbacks: [...callbacks, ...posted].flat(),
    }
  }

/** It goes on as long as its gateway is known to have been there. */
const endedCall = (row: StoredCall, seenAt: number): StoredCall => {
  const { created_at: created, ringing_at: ringing, answered_at: answered } = row
  const endedAt = Math.max(seenAt, created, ringing ?? 0, answered ?? 0)
  return { ...row, status: 'failed', code: 'interrupted', ended_at: endedAt }
}

const told = (
  stored: StoredCall,
  times: { readonly now: number; readonly createdAt: number },
): readonly CallbackRow[] => {
  if (stored.status_json === null) return []
  const target: StatusTarget = JSON.parse(stored.status_json)
  if (!target.states.includes('completed')) return []
  const row = toCallRow(stored)
  const told = { progress: 'completed', sequence: sequenceOf(target, row), nodeId: stored.node_id } as const
  const callback = statusCallback(target, row, { ...told, at: times.now })
  return [callbackRow({ projectId: row.projectId, callId: row.id }, { ...callback, ends: row.id }, times)]
}

/** How many of its states were told before, as far as the row says. */
const sequenceOf = ({ states }: StatusTarget, { ringingAt, answeredAt }: CallRow): number => {
  const reached = {
    initiated: true,
    ringing: ringingAt !== undefined,
    answered: answeredAt !== undefined,
    completed: false,
  }
  return states.filter((state) => reached[state]).length
}

/** Of each call that no other one has called, and of each to an address, with those that it had called as its legs. */
const recordsOf = (ended: readonly StoredCall[], over: readonly StoredCall[]): readonly CallCdr[] => {
  const legs = [...over, ...ended].filter((row) => !hasRecord(row))
  const called = Map.groupBy(legs, ({ parent_id: parent }) => parent)
  return ended
    .filter(hasRecord)
    .map((row) => recordOf(toCallRow(row), (called.get(row.id) ?? []).map(toCallRow)))
}

/** Whether a row is a call with a record of its own, and not a leg in the record of another one. */
const hasRecord = ({ parent_id: parent, direction }: StoredCall): boolean =>
  parent === null || direction === 'inbound'

const recordOf = (call: CallRow, called: readonly CallRow[]): CallCdr => {
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

/** What nobody knows any more is undefined: its carrier, its codec, its counters. */
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
