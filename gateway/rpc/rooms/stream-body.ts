import type { RoomStream } from '../../rooms/room-types.ts'

/** Returns a stream for events and lists. Times are seconds. `error`: reason of an end by a failure. */
export const streamBody = ({ id, url, state, startedAt, endedAt, durationMs, failure }: RoomStream) => ({
  id,
  url,
  state,
  duration: durationMs / 1000,
  started_at: startedAt / 1000,
  ...(endedAt !== undefined && { ended_at: endedAt / 1000 }),
  ...(failure !== undefined && { error: failure }),
})
