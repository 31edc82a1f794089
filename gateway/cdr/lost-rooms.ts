import { randomUUID } from 'node:crypto'
import { callbackRow } from '../callbacks/callback-row.ts'
import type { Clock } from '../core/clock.ts'
import type { EndRooms, RoomEventRow, RoomSessionRow } from '../directory/tables/room-sessions.ts'
import { roomCallback, roomEnded } from './room-callbacks.ts'
import { sessionFacts } from './room-facts.ts'

/**
 * Ends the room sessions of a stopped gateway: `interrupted`, at the time when it was last seen. Returns the
 * last event of each, and the callbacks to their status URLs.
 */
export const endLostRooms =
  (clock: Pick<Clock, 'now'>): EndRooms =>
  (open, seenAt) => {
    const now = clock.now()
    const ended = open.map((row): RoomSessionRow => {
      const endedAt = Math.max(seenAt, row.updated_at)
      const end = { updated_at: endedAt, ended_at: endedAt, end_reason: 'interrupted' }
      return { ...row, ...end, present_members: 0, events: row.events + 1 }
    })
    const events = ended.map(endOf)
    const callbacks = ended.flatMap((row, i) => {
      const event = events[i]
      if (row.status_json === null || !event) return []
      const callback = roomCallback(JSON.parse(row.status_json), row, event)
      const from = { projectId: row.project_id, callId: row.id }
      return callbackRow(from, callback, { now, createdAt: now + i })
    })
    return { sessions: ended.map((row) => ({ ...row, status_json: null })), events, callbacks }
  }

const endOf = (row: RoomSessionRow): RoomEventRow => ({
  id: randomUUID(),
  session_id: row.id,
  place: row.events,
  name: roomEnded,
  level: 'warn',
  member_id: null,
  recording_id: null,
  payload_json: JSON.stringify({ room_session: sessionFacts(row) }),
  created_at: row.updated_at,
})
