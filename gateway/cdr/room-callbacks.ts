import type { StatusCallback } from '../../handlers/handler.ts'
import { envelopeCallback } from '../calls/log/status-callbacks.ts'
import type { RoomEventRow, RoomSessionRow } from '../directory/tables/room-sessions.ts'
import type { RoomSettings } from '../rooms/room-types.ts'

/** Name of the last event of each session. */
export const roomEnded = 'room.ended'

/** Returns the callback that reports an event of a session, in the envelope of the script family. */
export const roomCallback = (
  target: NonNullable<RoomSettings['statusTarget']>,
  session: RoomSessionRow,
  event: RoomEventRow,
): StatusCallback => {
  const { id: sessionId, project_id: projectId, room_id, node_id } = session
  const envelope = {
    event_type: `video.${event.name}`,
    event_channel: `room.${sessionId}`,
    event_id: event.id,
    timestamp: event.created_at / 1000,
    project_id: projectId,
    space_id: projectId,
  }
  const ids = { room_id, room_session_id: sessionId, node_id, sequence: event.place }
  const params = { ...ids, ...JSON.parse(event.payload_json) }
  const callback = envelopeCallback(target, 'room', envelope, params)
  return event.name === roomEnded ? { ...callback, ends: sessionId } : callback
}
