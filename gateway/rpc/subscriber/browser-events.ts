import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { PlayState } from '../../calls/leg/leg-signalling.ts'
import { addressOf, farSideOf } from './displayed-party.ts'
import type { MemberView } from './member.ts'

/** States of a call in events. */
export type WireCallState = 'created' | 'ringing' | 'answered' | 'ended'

/** Ids of the call that an event is about. */
export interface WireCall {
  readonly callId: string
  readonly nodeId: string
  /** Id of both the room and the room session. */
  readonly roomId: string
  readonly leg: Leg
}

/** Times of a call in milliseconds since the Unix epoch; 0 if not reached. */
export interface WireTimes {
  start: number
  answer: number
  end: number
}

const inRoom = ({ roomId }: WireCall) => ({ room_id: roomId, room_session_id: roomId })

const inCall = ({ callId, nodeId, roomId }: WireCall) => ({
  call_id: callId,
  node_id: nodeId,
  segment_id: callId,
  room_session_id: roomId,
})

/** Returns the params of `call.state`. */
export const callState = (call: WireCall, state: WireCallState, times: WireTimes) => ({
  ...inCall(call),
  call_state: state,
  direction: call.leg.direction,
  device: {
    type: 'webrtc',
    params: { from: addressOf(call.leg.from), to: addressOf(call.leg.to), headers: [] },
  },
  start_time: times.start,
  answer_time: times.answer,
  end_time: times.end,
})

/**
 * Returns the capabilities that the event grants to the SDK. Only subscribers may change other members.
 * `device` is omitted, so that its methods fail at once.
 */
export const capabilitiesOf = ({ kind }: Pick<TokenIdentity, 'kind'>): readonly string[] => {
  const own = ['self', 'screenshare', 'vmuted', 'layout', 'digit']
  return kind === 'subscriber' ? [...own, 'member', 'lock', 'end'] : own
}

/** Facts of the whole call. */
export interface RoomFacts {
  readonly members: readonly MemberView[]
  readonly locked: boolean
  readonly layout: string
}

const roomSession = (call: WireCall, { members, locked, layout }: RoomFacts) => {
  const name = addressOf(farSideOf(call.leg))
  return {
    ...inRoom(call),
    event_channel: '',
    name,
    display_name: name,
    layout_name: layout,
    recording: false,
    streaming: false,
    prioritize_handraise: false,
    hide_video_muted: false,
    locked,
    meta: {},
    members,
    recordings: [],
    streams: [],
    playbacks: [],
  }
}

/**
 * Params of `call.joined`. In the first event of a call, the SDK requires `call_id` and `origin_call_id` to
 * be equal.
 */
export const callJoined = (
  call: WireCall,
  memberId: string,
  facts: RoomFacts,
  capabilities: readonly string[],
) => ({
  room_session: roomSession(call, facts),
  ...inRoom(call),
  call_id: call.callId,
  member_id: memberId,
  node_id: call.nodeId,
  origin_call_id: call.callId,
  capabilities,
})

/** Params of `call.updated`; `updated`: names of the changed properties of the room session. */
export const callUpdated = (call: WireCall, facts: RoomFacts, updated: readonly string[]) => ({
  ...inCall(call),
  room_id: call.roomId,
  room_session: { ...roomSession(call, facts), updated },
})

/** Params of `call.left`. */
export const callLeft = (call: WireCall, memberId: string, reason: string) => ({
  ...inRoom(call),
  call_id: call.callId,
  member_id: memberId,
  node_id: call.nodeId,
  origin_call_id: call.callId,
  reason,
})

/** Params of `member.joined` and `member.left`. */
export const memberMoved = (call: WireCall, member: MemberView) => ({ ...inRoom(call), member })

/** Params of `member.updated`. Without `updated`, the SDK's event worker fails and stops. */
export const memberUpdated = (call: WireCall, member: MemberView, updated: readonly string[]) => ({
  ...inRoom(call),
  member: { ...member, updated },
})

/** Returns the params of `call.connect`: a callee is being called for the browser, or has answered. */
export const callConnect = (call: WireCall, state: 'connecting' | 'connected', peer: WirePeer) => ({
  ...inCall(call),
  connect_state: state,
  peer: {
    call_id: peer.callId,
    node_id: call.nodeId,
    device: peer.telephone
      ? { type: 'phone', params: { from_number: peer.from, to_number: peer.to } }
      : { type: 'webrtc', params: { from: peer.from, to: peer.to, headers: [] } },
  },
})

/** Connected party as the browser displays it. */
export interface WirePeer {
  readonly callId: string
  readonly telephone: boolean
  readonly from: string
  readonly to: string
}

/** Progress of a transfer, or of the addition of a person. */
export type WireProgress = 'ringing' | 'completed' | 'failed'

/** Params of `call.transfer` and `call.add`. `status`: SIP status of the target. */
export const callProgress = (
  call: WireCall,
  kind: 'transfer' | 'add',
  state: WireProgress,
  status: number,
) => ({ ...inCall(call), [`${kind}_state`]: state, sip_status: status })

/** Params of `call.play`. */
export const callPlay = (call: WireCall, controlId: string, state: PlayState) => ({
  ...inCall(call),
  control_id: controlId,
  state,
})

/** Returns the params of `user_event`, an event that the handler defines. */
export const userEvent = (
  { callId, nodeId, roomId }: WireCall,
  event: Readonly<Record<string, unknown>>,
) => ({
  call_id: callId,
  node_id: nodeId,
  room_session_id: roomId,
  event,
})

/** Returns the params of an event of a voice agent, for instance `ai.start`. */
export const agentEvent = (
  { callId, nodeId, roomId }: WireCall,
  event: Readonly<Record<string, unknown>>,
) => ({ ...event, call_id: callId, node_id: nodeId, room_session_id: roomId })
