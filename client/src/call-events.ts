import type { CallState } from './call-state.ts'
import type { ClientError } from './errors.ts'
import type { CallLevels, DeviceChange, DeviceName, VideoState } from './media-types.ts'
import type {
  CallJoined,
  CallLeft,
  CallUpdated,
  LayoutChanged,
  MemberEvent,
  MemberList,
  MemberTalking,
  MemberUpdated,
  ServerCallEvent,
  ServerCallState,
} from './member-types.ts'

type MemberField =
  | 'audioMuted'
  | 'videoMuted'
  | 'deaf'
  | 'visible'
  | 'handraised'
  | 'inputVolume'
  | 'outputVolume'
  | 'inputSensitivity'
  | 'echoCancellation'
  | 'autoGain'
  | 'noiseSuppression'

/** One field of a member changed. */
export type MemberFieldEvents = { readonly [Name in `member.updated.${MemberField}`]: MemberUpdated }

/** The events of a {@link Call}. Names with a dot are the gateway's, with the gateway's own fields. */
export interface CallEvents extends MemberFieldEvents {
  readonly state: { readonly state: CallState; readonly previous: CallState }
  /** A track of the far side arrived, also when it comes anew. `stream` is the call's `remoteStream`. */
  readonly track: { readonly track: MediaStreamTrack; readonly stream: MediaStream }
  /** Our camera is sent or not any more; pictures of the far side come or do not any more. */
  readonly video: VideoState
  /** Ten times a second, and only while somebody listens. */
  readonly level: CallLevels
  /** The far side pressed keys. */
  readonly dtmf: { readonly digits: string }
  /** What we send was muted or unmuted, by us or by the server. */
  readonly mute: { readonly audio: boolean; readonly video: boolean }
  /** The server has a better name or number for the far side. */
  readonly display: { readonly name: string; readonly number: string }
  /** Sound and pictures flow, for the first time or again. */
  readonly 'media.connected': Readonly<Record<string, never>>
  /** The path of sound and pictures broke, or the network changed; a new one is sought. */
  readonly 'media.reconnecting': Readonly<Record<string, never>>
  /** There is no path any more: the call ends. */
  readonly 'media.disconnected': Readonly<Record<string, never>>
  readonly 'microphone.updated': DeviceChange
  readonly 'camera.updated': DeviceChange
  readonly 'speaker.updated': DeviceChange
  /** The device was unplugged, or taken away from the page: nothing is sent until another one is chosen. */
  readonly 'microphone.disconnected': DeviceName
  readonly 'camera.disconnected': DeviceName
  readonly 'call.joined': CallJoined
  readonly 'call.updated': CallUpdated
  readonly 'call.left': CallLeft
  readonly 'call.state': ServerCallState
  readonly 'call.play': ServerCallEvent
  readonly 'call.connect': ServerCallEvent
  readonly 'call.room': ServerCallEvent
  readonly 'member.joined': MemberEvent
  readonly 'member.left': MemberEvent
  readonly 'member.updated': MemberUpdated
  readonly 'member.talking': MemberTalking
  readonly 'memberList.updated': MemberList
  readonly 'layout.changed': LayoutChanged
  /** The call is over and everything of it released. */
  readonly destroy: { readonly reason: ClientError }
}
