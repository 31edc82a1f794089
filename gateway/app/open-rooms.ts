import type { MixerOptions } from '../../media/types.ts'
import { ProjectRooms } from '../calls/room/project-rooms.ts'
import type { RoomHistory } from '../cdr/room-history.ts'
import type { SystemClock } from '../core/clock.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Recordings } from '../recordings/recordings.ts'
import type { AppContext, OpenedMedia, OpenedStore } from './open.ts'

/** Opened components that rooms use. */
export interface OpenRoomsDeps {
  readonly store: Pick<OpenedStore, 'directory'>
  readonly media: Pick<OpenedMedia, 'edge' | 'webrtc'>
  readonly recordings: Recordings
  readonly history: Pick<RoomHistory, 'watch'>
  readonly clock: SystemClock
}

/** Opens the room sessions of all projects. */
export const openRooms = (
  { log }: AppContext,
  { store, media, recordings, history, clock }: OpenRoomsDeps,
  metrics: Metrics,
): ProjectRooms => {
  const { edge, webrtc } = media
  const rooms = new ProjectRooms({
    directory: store.directory,
    openMixer: (options?: MixerOptions) => edge.openMixer(options),
    webrtc,
    recordings,
    clock,
    log,
  })
  rooms.onStart((session) => history.watch(session))
  metrics.gauge('room_sessions', () => rooms.count)
  metrics.gauge('room_members', () => rooms.members)
  return rooms
}
