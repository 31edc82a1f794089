import type { Leg } from '../../calls/leg.ts'
import type { Member } from './member.ts'

/** The states of a call that the browser is told. */
export type WireCallState = 'created' | 'ringing' | 'answered' | 'ended'

/** Which call an event speaks of. */
export interface WireCall {
  readonly callId: string
  readonly nodeId: string
  /** Room and room session are one: a call of two. */
  readonly roomId: string
  readonly leg: Leg
}

/** When what happened, in milliseconds since the Unix epoch; 0: not yet. */
export interface WireTimes {
  start: number
  answer: number
  end: number
}

/** Params of `call.state`. */
export const callState = (
  { callId, nodeId, roomId, leg }: WireCall,
  state: WireCallState,
  times: WireTimes,
) => ({
  call_id: callId,
  node_id: nodeId,
  segment_id: callId,
  call_state: state,
  direction: leg.direction,
  device: { type: 'webrtc', params: { from: leg.from.uri, to: leg.to.uri, headers: [] } },
  start_time: times.start,
  answer_time: times.answer,
  end_time: times.end,
  room_session_id: roomId,
})

/**
 * What the SDK lets the page do. Left out is what is not offered: `device`, `screenshare` and `layout`, whose methods then fail at once in
 * the page instead of waiting for an answer.
 */
const capabilities = ['self', 'member', 'lock', 'end', 'vmuted', 'digit']

/** Params of `call.joined`. The SDK demands that `call_id` and `origin_call_id` are the same the first time. */
export const callJoined = ({ callId, nodeId, roomId, leg }: WireCall, member: Member, locked: boolean) => {
  const name = leg.direction === 'inbound' ? leg.to.uri : leg.from.uri
  return {
    room_session: {
      room_id: roomId,
      room_session_id: roomId,
      event_channel: '',
      name,
      display_name: name,
      layout_name: '',
      recording: false,
      streaming: false,
      prioritize_handraise: false,
      hide_video_muted: false,
      locked,
      meta: {},
      members: [member.view()],
      recordings: [],
      streams: [],
      playbacks: [],
    },
    room_id: roomId,
    room_session_id: roomId,
    call_id: callId,
    member_id: member.id,
    node_id: nodeId,
    origin_call_id: callId,
    capabilities,
  }
}

/** Params of `call.left`. */
export const callLeft = ({ callId, nodeId, roomId }: WireCall, member: Member, reason: string) => ({
  room_id: roomId,
  room_session_id: roomId,
  call_id: callId,
  member_id: member.id,
  node_id: nodeId,
  origin_call_id: callId,
  reason,
})

/** Params of `member.updated`. Without `updated` the SDK's event worker dies. */
export const memberUpdated = ({ roomId }: WireCall, member: Member, updated: readonly string[]) => ({
  room_id: roomId,
  room_session_id: roomId,
  member: { ...member.view(), updated },
})

/** Params of `user_event`: what a handler tells the page. */
export const userEvent = (
  { callId, nodeId, roomId }: WireCall,
  event: Readonly<Record<string, unknown>>,
) => ({
  call_id: callId,
  node_id: nodeId,
  room_session_id: roomId,
  event,
})
