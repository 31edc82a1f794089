import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import type { MixerOptions } from '../../media/types.ts'
import { RtmpConnector } from '../callbacks/rtmp-target.ts'
import { RoomFiles } from '../calls/audio/room-files.ts'
import { ProjectRooms } from '../calls/room/project-rooms.ts'
import type { RoomHistory } from '../cdr/room-history.ts'
import type { SystemClock } from '../core/clock.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Recordings } from '../recordings/recordings.ts'
import type { AppContext, CustomerServers, OpenedMedia, OpenedStore } from './open.ts'
import { gaugeFigures, observeFigures } from './room-metrics.ts'
import { mebibyte } from './sound-options.ts'

/** Opened components that rooms use. */
export interface OpenRoomsDeps {
  readonly store: Pick<OpenedStore, 'directory'>
  readonly media: Pick<OpenedMedia, 'edge' | 'webrtc' | 'ffmpeg'>
  readonly recordings: Recordings
  readonly customers: Pick<CustomerServers, 'http'>
  readonly history: Pick<RoomHistory, 'watch'>
  readonly clock: SystemClock
}

/** Opens the room sessions of all projects. */
export const openRooms = (
  { config, log, followers, closing }: AppContext,
  { store, media, recordings, customers, history, clock }: OpenRoomsDeps,
  metrics: Metrics,
): ProjectRooms => {
  const { edge, webrtc, ffmpeg } = media
  const { maxProcesses, maxFileSize, fetchTimeoutMs } = config.media.rooms.ffmpeg
  const files = new RoomFiles(
    {
      hasFfmpeg: ffmpeg !== undefined,
      maxFiles: maxProcesses,
      maxBytes: maxFileSize * mebibyte,
      timeoutMs: fetchTimeoutMs,
    },
    { http: customers.http, webrtc },
  )
  closing.add('room files', files, (open) => open.close())
  const guard = new AddressGuard(config.limits.documentNetworks)
  followers.change('streams of rooms', ({ limits }) => guard.change(limits.documentNetworks))
  const rooms = new ProjectRooms({
    directory: store.directory,
    openMixer: (options?: MixerOptions) => edge.openMixer(options),
    webrtc,
    recordings,
    files,
    rtmp: new RtmpConnector(guard),
    clock,
    log,
    onFigures: (figures) => observeFigures(metrics, figures),
    streamUrls: (roomId) => store.directory.roomStreams.urlsOf(roomId),
    onStreamFault: (fault) => metrics.roomStreamFailures.inc({ fault }),
  })
  rooms.onStart((session) => history.watch(session))
  metrics.gauge('room_sessions', () => rooms.count)
  metrics.gauge('room_members', () => rooms.members)
  metrics.gauge('room_playbacks', () => files.count)
  gaugeFigures(metrics, () => rooms.figures)
  metrics.gauge('room_streams', () => files.streams)
  return rooms
}
