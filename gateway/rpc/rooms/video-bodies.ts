import type { RoomSession } from '../../rooms/room-session.ts'
import type { RoomMember } from '../../rooms/room-types.ts'
import { roomIds } from './layout-body.ts'
import { playbackBody } from './playback-body.ts'
import { recordingBody } from './recording-body.ts'
import { shownName } from './shown-name.ts'
import { streamBody } from './stream-body.ts'

/**
 * Returns a member for events and lists. The SDK derives its position from the layout. `isGuest`: whether the
 * viewer sees telephone numbers masked; default false.
 */
export const videoMemberBody = (session: RoomSession, member: RoomMember, isGuest = false) => {
  const { echo_cancellation, auto_gain, noise_suppression, ...state } = member.state
  return {
    id: member.id,
    ...roomIds(session),
    type: member.type,
    ...(member.parentId !== undefined && { parent_id: member.parentId }),
    name: shownName(member, isGuest),
    requested_position: member.requestedPosition,
    visible: member.isVisible,
    on_hold: member.isOnHold,
    ...state,
    talking: member.isTalking,
    meta: member.meta,
  }
}

/** Returns all members for lists. `isGuest` as in {@link videoMemberBody}. */
export const videoMemberBodies = (session: RoomSession, isGuest = false) =>
  session.members.map((member) => videoMemberBody(session, member, isGuest))

/** Channel to which applications subscribe for the events of a session. */
export const channelOf = ({ id }: Pick<RoomSession, 'id'>): string => `room.${id}`

/** Options of {@link videoRoomBodies}. */
export interface VideoRoomBodiesOptions {
  /** Member whose layout the bodies have; default the layout of a viewer without a camera. */
  readonly viewerId?: string | undefined
  /** Names of changed properties; default absent from the bodies. */
  readonly updated?: readonly string[] | undefined
  /** As in {@link videoMemberBody}. */
  readonly isGuest?: boolean
}

/** Returns the `room_session` and the `room` of events. */
export const videoRoomBodies = (
  session: RoomSession,
  { viewerId, updated, isGuest = false }: VideoRoomBodiesOptions = {},
) => {
  const { settings } = session
  const body = {
    ...roomIds(session),
    event_channel: channelOf(session),
    name: settings.name,
    display_name: settings.displayName,
    layout_name: session.layoutFor(viewerId).name,
    locked: session.isLocked,
    prioritize_handraise: session.isHandraisePrioritized,
    hide_video_muted: session.isVideoMutedHidden,
    audience_count: session.audienceCount,
    recording: session.recordings.isRecording,
    streaming: session.streams.isStreaming,
    meta: session.meta,
    members: videoMemberBodies(session, isGuest),
    recordings: session.recordings.list.map(recordingBody),
    playbacks: session.playbacks.list.map(playbackBody),
    streams: session.streams.list.map(streamBody),
    ...(updated && { updated }),
  }
  return { room: body, room_session: { ...body, id: session.id } }
}
