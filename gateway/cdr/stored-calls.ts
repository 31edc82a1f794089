import type { CallQuery, CallRow, CallStatus } from '../calls/log/call-rows.ts'
import type { Code } from '../core/errors/catalogue.ts'
import type { CallSearch, StoredCall } from '../directory/tables/calls.ts'
import { partyFilter, partyOf, printed } from './parties.ts'

/** Returns the row of a call for the store. */
export const toStoredCall = (call: CallRow, nodeId: string): StoredCall => {
  const from = partyOf(call.from)
  const to = partyOf(call.to)
  return {
    id: call.id,
    node_id: nodeId,
    project_id: call.projectId,
    parent_id: call.parentId ?? null,
    direction: call.direction,
    type: call.type,
    status: call.status,
    from_uri: from.uri,
    from_user: from.user,
    to_uri: to.uri,
    to_user: to.user,
    created_at: call.createdAt,
    ringing_at: call.ringingAt ?? null,
    answered_at: call.answeredAt ?? null,
    ended_at: call.endedAt ?? null,
    code: call.code ?? null,
    sip_status: call.sipStatus ?? null,
    answered_by: call.answeredBy ?? null,
    document: call.document === undefined ? null : printed(call.document),
    status_json: call.statusTarget && call.endedAt === undefined ? JSON.stringify(call.statusTarget) : null,
  }
}

/** Converts a stored row, as {@link toStoredCall} makes it, back to a call. */
export const toCallRow = (row: StoredCall): CallRow => ({
  id: row.id,
  projectId: row.project_id,
  from: row.from_uri,
  to: row.to_uri,
  createdAt: row.created_at,
  direction: row.direction as CallRow['direction'],
  type: row.type as CallRow['type'],
  status: row.status as CallStatus,
  ...(row.parent_id !== null && { parentId: row.parent_id }),
  ...(row.ringing_at !== null && { ringingAt: row.ringing_at }),
  ...(row.answered_at !== null && { answeredAt: row.answered_at }),
  ...(row.ended_at !== null && { endedAt: row.ended_at }),
  ...(row.code !== null && { code: row.code as Code }),
  ...(row.sip_status !== null && { sipStatus: row.sip_status }),
  ...(row.answered_by !== null && { answeredBy: row.answered_by as 'human' | 'machine' }),
  ...(row.document !== null && { document: row.document }),
})

/** Converts a query to a search in the store's columns. */
export const toStoreSearch = ({ from, to, ...rest }: CallQuery): CallSearch => {
  const caller = partyFilter(from)
  const callee = partyFilter(to)
  return {
    ...rest,
    ...(caller.user !== undefined && { fromUser: caller.user }),
    ...(caller.uri !== undefined && { fromUri: caller.uri }),
    ...(callee.user !== undefined && { toUser: callee.user }),
    ...(callee.uri !== undefined && { toUri: callee.uri }),
  }
}
