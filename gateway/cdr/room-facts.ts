import type { RoomMemberRow, RoomSessionRow } from '../directory/tables/room-sessions.ts'
import type { RoomPlayback, RoomRecording, RoomSettings, RoomStream } from '../rooms/room-types.ts'

/** Returns the settings of a session for the API. */
export const settingsFacts = (settings: RoomSettings) => ({
  max_members: settings.maxMembers,
  join_from: timeOf(settings.joinFrom),
  join_until: timeOf(settings.joinUntil),
  remove_at: timeOf(settings.removeAt),
  remove_after_seconds_elapsed: settings.removeAfterMs === undefined ? null : settings.removeAfterMs / 1000,
  layout: settings.layout,
  record_on_start: settings.recordOnStart,
  tone_on_entry_and_exit: settings.hasTones,
  user_join_video_off: settings.isVideoOffAtJoin,
  prioritize_handraise: settings.isHandraisePrioritized,
})

/** Settings of a session in the API, as `settings_json` of its row has them. */
export type SettingsFacts = ReturnType<typeof settingsFacts>

/** Returns the facts of a session, for its events and lists. */
export const sessionFacts = (row: RoomSessionRow) => ({
  id: row.id,
  room_id: row.room_id,
  name: row.name,
  display_name: row.display_name,
  status: statusOf(row),
  start_time: timeOf(row.started_at),
  end_time: timeOf(row.ended_at),
  duration: secondsOf(row.started_at, row.ended_at),
  end_reason: row.end_reason,
  members_present: row.present_members,
  members_total: row.members,
  members_max: row.max_members,
})

/** Returns the status of a session in the API. */
export const statusOf = ({ ended_at: endedAt }: RoomSessionRow): 'in-progress' | 'completed' =>
  endedAt === null ? 'in-progress' : 'completed'

/** Returns the facts of a member, for events and lists. */
export const memberFacts = (row: RoomMemberRow) => ({
  id: row.id,
  room_session_id: row.session_id,
  name: row.name,
  type: row.type,
  parent_id: row.parent_id,
  device: row.device,
  call_id: row.call_id,
  subscriber_id: row.subscriber_id,
  join_as: row.is_audience === 1 ? 'audience' : 'member',
  join_time: timeOf(row.joined_at),
  leave_time: timeOf(row.left_at),
  leave_reason: row.leave_reason,
  duration: secondsOf(row.joined_at, row.left_at),
})

/** Returns the facts of a recording, for events. */
export const recordingFacts = ({ id, state, startedAt, endedAt, durationMs }: RoomRecording) => ({
  id,
  state,
  start_time: timeOf(startedAt),
  end_time: timeOf(endedAt),
  duration: durationMs / 1000,
})

/** Returns the facts of a playback, for events. The position in the file is in seconds. */
export const playbackFacts = ({ id, state, url, positionMs, startedAt, endedAt, failure }: RoomPlayback) => ({
  id,
  state,
  url,
  position: positionMs / 1000,
  start_time: timeOf(startedAt),
  end_time: timeOf(endedAt),
  error: failure ?? null,
})

/** Returns the facts of a stream to a server, for events and lists. */
export const streamFacts = ({ id, state, url, startedAt, endedAt, failure }: RoomStream) => ({
  id,
  state,
  url,
  start_time: timeOf(startedAt),
  end_time: timeOf(endedAt),
  duration: secondsOf(startedAt, endedAt ?? null),
  error: failure ?? null,
})

/** Facts of a stream, as the events of a session have them. */
export type StreamFacts = ReturnType<typeof streamFacts>

const timeOf = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString()

/** Returns a duration in seconds, rounded up; null without an end. */
export const secondsOf = (from: number, until: number | null): number | null =>
  until === null ? null : Math.ceil((until - from) / 1000)
