import type { RoomSession } from '../../../rooms/room-session.ts'
import type { Position, RoomMember } from '../../../rooms/room-types.ts'
import { roomIds } from '../../rooms/layout-body.ts'
import { shownName } from '../../rooms/shown-name.ts'

/** Page that receives the bodies. */
export interface RoomViewer {
  readonly memberId: string
  readonly nodeId: string
  /** Whether the page may see which subscribers the other members are, and whole telephone numbers. */
  readonly seesSubscribers: boolean
}

/** Returns a member for events and lists. */
export const memberBody = (
  session: RoomSession,
  member: RoomMember,
  viewer: RoomViewer,
  position: Position = session.positionOf(member.id, viewer.memberId),
) => {
  const isDisclosed = viewer.seesSubscribers || member.id === viewer.memberId
  return {
    type: member.type,
    call_id: member.callId,
    member_id: member.id,
    node_id: viewer.nodeId,
    name: shownName(member, !viewer.seesSubscribers),
    ...roomIds(session),
    visible: member.isVisible,
    on_hold: member.isOnHold,
    ...member.state,
    lowbitrate: false,
    denoise: false,
    is_audience: false,
    // The published SDK ignores it.
    is_phone: member.isPhone,
    talking: member.isTalking,
    meta: member.meta,
    subscriber_id: isDisclosed ? member.subscriberId : null,
    address_id: isDisclosed ? member.addressId : null,
    parent_id: member.parentId ?? null,
    requested_position: member.requestedPosition,
    current_position: position,
  }
}

/** Returns all members for lists. */
export const memberBodies = (session: RoomSession, viewer: RoomViewer) => {
  const { layers } = session.layoutFor(viewer.memberId)
  const positions = new Map(layers.map(({ memberId, position }) => [memberId, position]))
  return session.members.map((member) =>
    memberBody(session, member, viewer, positions.get(member.id) ?? 'off-canvas'),
  )
}

/** Returns the `room_session` of events. */
export const roomBody = (session: RoomSession, viewer: RoomViewer) => {
  const { settings } = session
  return {
    id: session.id,
    ...roomIds(session),
    event_channel: '',
    name: settings.name,
    display_name: settings.displayName,
    layout_name: session.layoutFor(viewer.memberId).name,
    recording: session.recordings.isRecording,
    streaming: session.streams.isStreaming,
    prioritize_handraise: session.isHandraisePrioritized,
    hide_video_muted: session.isVideoMutedHidden,
    locked: session.isLocked,
    meta: session.meta,
    members: memberBodies(session, viewer),
    recordings: [],
    streams: [],
    playbacks: [],
  }
}
