import type { RoomRecording } from '../../rooms/room-types.ts'

/** Returns a recording for events and lists. Times are seconds since the epoch. */
export const recordingBody = ({ id, state, startedAt, endedAt, durationMs }: RoomRecording) => ({
  id,
  state,
  duration: durationMs / 1000,
  started_at: startedAt / 1000,
  ...(endedAt !== undefined && { ended_at: endedAt / 1000 }),
})
