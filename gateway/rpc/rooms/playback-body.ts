import type { RoomPlayback } from '../../rooms/room-types.ts'

/**
 * Returns a playback for events and lists. Times are seconds since the epoch, the position is in ms. `error`:
 * reason of an end by a failure.
 */
export const playbackBody = (playback: RoomPlayback) => ({
  id: playback.id,
  state: playback.state,
  url: playback.url,
  position: Math.round(playback.positionMs),
  seekable: true,
  volume: playback.volume,
  started_at: playback.startedAt / 1000,
  ...(playback.endedAt !== undefined && { ended_at: playback.endedAt / 1000 }),
  ...(playback.failure !== undefined && { error: playback.failure }),
})
