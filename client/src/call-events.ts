import type { CallState } from './call-state.ts'
import type { TransferProgress } from './call-transfer.ts'
import type { ClientError } from './errors.ts'
import type { CallLevels, CallQuality, DeviceChange, DeviceName, VideoState } from './media-types.ts'
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
import type { RoomTrack } from './track-types.ts'

type MemberField =
  | 'audioMuted'
  | 'videoMuted'
  | 'deaf'
  | 'visible'
  | 'onHold'
  | 'handraised'
  | 'inputVolume'
  | 'outputVolume'
  | 'inputSensitivity'
  | 'echoCancellation'
  | 'autoGain'
  | 'noiseSuppression'

/** Changes of single fields of a member. */
export type MemberFieldEvents = { readonly [Name in `member.updated.${MemberField}`]: MemberUpdated }

/** Events of a {@link Call}. Names with a dot are events of the gateway, with the gateway's fields. */
export interface CallEvents extends MemberFieldEvents {
  readonly state: { readonly state: CallState; readonly previous: CallState }
  /** A track of the far side arrived or was replaced. `stream` is the call's `remoteStream`. */
  readonly track: { readonly track: MediaStreamTrack; readonly stream: MediaStream }
  /** Sending of the camera, or reception of the far side's video, started or stopped. */
  readonly video: VideoState
  /** The separate cameras and screens of a room changed; see `call.tracks`. */
  readonly tracks: ReadonlyMap<string, RoomTrack>
  /** Audio levels, ten times a second, only while the event has a listener. */
  readonly level: CallLevels
  /** Quality of the audio, every two seconds after the answer, only while the event has a listener. */
  readonly quality: CallQuality
  /** The far side sent DTMF digits. */
  readonly dtmf: { readonly digits: string }
  /** Audio or video that this page sends was muted or unmuted, locally or by the server. */
  readonly mute: { readonly audio: boolean; readonly video: boolean }
  /** The server has a new name or number for the far side. */
  readonly display: { readonly name: string; readonly number: string }
  /** Progress of a {@link Call.transfer}. */
  readonly transfer: TransferProgress
  /** Progress of a {@link Call.add}. */
  readonly addition: TransferProgress
  /** Media flows, for the first time or again. */
  readonly 'media.connected': Readonly<Record<string, never>>
  /** The media path failed, or the network changed; a new path is being negotiated. */
  readonly 'media.reconnecting': Readonly<Record<string, never>>
  /** The media path could not be restored: the call ends. */
  readonly 'media.disconnected': Readonly<Record<string, never>>
  readonly 'microphone.updated': DeviceChange
  readonly 'camera.updated': DeviceChange
  readonly 'speaker.updated': DeviceChange
  /** The device was unplugged or withdrawn from the page. Nothing is sent until another one is chosen. */
  readonly 'microphone.disconnected': DeviceName
  /**
   * The same for the camera. With `devicesAfterAnswer`, also a camera that could not be opened: its id and
   * label are empty.
   */
  readonly 'camera.disconnected': DeviceName
  readonly 'call.joined': CallJoined
  readonly 'call.updated': CallUpdated
  readonly 'call.left': CallLeft
  readonly 'call.state': ServerCallState
  readonly 'call.play': ServerCallEvent
  readonly 'call.connect': ServerCallEvent
  readonly 'call.room': ServerCallEvent
  /** A voice agent began, or ended with a `reason`. */
  readonly 'ai.start': ServerCallEvent
  readonly 'ai.stop': ServerCallEvent
  /** `text` of the caller so far; `barged`: it interrupted the agent. */
  readonly 'ai.partial_result': ServerCallEvent
  /** `text` of a complete turn of the caller. */
  readonly 'ai.speech_detect': ServerCallEvent
  /** `combined_text`: a turn of the caller that was joined to the one before. Its answer does not count. */
  readonly 'ai.transparent_barge': ServerCallEvent
  /** `utterance`: next piece that the agent says, with its blanks; an empty one begins a new answer. */
  readonly 'ai.response_utterance': ServerCallEvent
  /**
   * `text` of an answer, as far as it was heard; `type`: `normal`, or `barged` if it was cut. `given_up`:
   * the caller did not cut it.
   */
  readonly 'ai.completion': ServerCallEvent
  /** `code` and `message`. */
  readonly 'ai.warning': ServerCallEvent
  readonly 'member.joined': MemberEvent
  readonly 'member.left': MemberEvent
  readonly 'member.updated': MemberUpdated
  readonly 'member.talking': MemberTalking
  readonly 'memberList.updated': MemberList
  readonly 'layout.changed': LayoutChanged
  /** The call has ended and all its resources are released. */
  readonly destroy: { readonly reason: ClientError }
}
