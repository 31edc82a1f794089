/**
 * Member of a call, as the gateway reports it. More fields may be present; any but the ids may be missing.
 */
export interface Member {
  readonly member_id: string
  readonly call_id: string
  readonly node_id: string
  /** `screen`: a screen that the member `parent_id` shares. */
  readonly type?: 'member' | 'screen' | 'device'
  readonly name?: string
  readonly room_id?: string
  readonly room_session_id?: string
  /** Whether the member's video is visible. */
  readonly visible?: boolean
  /** Whether this client may remove the member: it has added the person. */
  readonly removable?: boolean
  /** Whether the member has put the call on hold. */
  readonly on_hold?: boolean
  readonly handraised?: boolean
  readonly audio_muted?: boolean
  readonly video_muted?: boolean
  readonly deaf?: boolean
  readonly talking?: boolean
  /** -50 to 50; 0 leaves the volume unchanged. */
  readonly input_volume?: number
  /** -50 to 50; 0 leaves the volume unchanged. */
  readonly output_volume?: number
  /** 0 to 100. */
  readonly input_sensitivity?: number
  readonly echo_cancellation?: boolean
  readonly auto_gain?: boolean
  readonly noise_suppression?: boolean
  /** Whether the member of a room is a telephone. */
  readonly is_phone?: boolean
  readonly subscriber_id?: string | null
  readonly address_id?: string | null
  readonly parent_id?: string | null
  readonly requested_position?: string
  readonly current_position?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Member to which a command applies. */
export interface MemberParams {
  /** Default: this client's member. `all`: all members. */
  readonly memberId?: string
}

/** Parameters of {@link CallCommands.setInputVolume} and {@link CallCommands.setOutputVolume}. */
export interface VolumeParams extends MemberParams {
  /** -50 to 50; 0 leaves the volume unchanged. */
  readonly volume: number
}

/** Parameters of {@link CallCommands.setInputSensitivity}. */
export interface SensitivityParams extends MemberParams {
  /** Level below which audio is suppressed, 0 to 100. */
  readonly value: number
}

/** Parameters of {@link CallCommands.setRaisedHand}. */
export interface RaisedHandParams extends MemberParams {
  /** Default true. */
  readonly raised?: boolean
}

/** Parameters of {@link CallCommands.setAudioFlags}; at least one of the three is required. */
export interface AudioFlagsParams extends MemberParams {
  readonly echoCancellation?: boolean
  readonly autoGain?: boolean
  readonly noiseSuppression?: boolean
}

/**
 * Positions by the id of a member, or `self`.
 * Values: `auto`, `reserved-1`, `standard-1`, `off-canvas`, `playback`, `full-screen`.
 */
export type Positions = Readonly<Record<string, string>>

/** Parameters of {@link CallCommands.setLayout}. */
export interface LayoutParams {
  /** Name from {@link CallCommands.getLayouts}. */
  readonly name: string
  readonly positions?: Positions
}

/** Whether a setting may be switched on, and off. */
export interface OnOff {
  readonly on: boolean
  readonly off: boolean
}

/** Commands that are allowed on a member. `muteAudio.off` mutes the audio, `muteAudio.on` unmutes it. */
export interface MemberCapabilities {
  readonly muteAudio: OnOff
  readonly muteVideo: OnOff
  readonly microphoneVolume: boolean
  readonly microphoneSensitivity: boolean
  readonly speakerVolume: boolean
  readonly deaf: OnOff
  readonly raisehand: OnOff
  readonly position: boolean
  readonly meta: boolean
  readonly remove: boolean
  readonly audioFlags: boolean
}

/** Commands that the gateway allows in a call. Others reject with `no_capability` at once. */
export interface CallCapabilities {
  /** Commands on this client's member. */
  readonly self: MemberCapabilities
  /** Commands on other members. */
  readonly member: MemberCapabilities
  readonly end: boolean
  readonly setLayout: boolean
  readonly sendDigit: boolean
  readonly vmutedHide: OnOff
  readonly lock: OnOff
  readonly device: boolean
  readonly screenshare: boolean
}

/** Room, or call of two, as the gateway reports it. */
export interface RoomSession {
  /** Id of the session of a room; undefined for a call of two. */
  readonly id?: string
  readonly room_session_id?: string
  readonly room_id?: string
  readonly name?: string
  readonly display_name?: string
  readonly layout_name?: string
  readonly locked?: boolean
  readonly recording?: boolean
  readonly streaming?: boolean
  readonly members?: readonly Member[]
  readonly [field: string]: unknown
}

/** Fields of each event of a room. */
export interface RoomEvent {
  readonly room_id?: string
  readonly room_session_id?: string
}

/** `call.joined`: the call joined a call or a room. */
export interface CallJoined extends RoomEvent {
  readonly room_session: RoomSession
  readonly call_id: string
  readonly member_id: string
  readonly node_id?: string
  /** Id of this client's call. It differs from `call_id` after the call was moved. */
  readonly origin_call_id: string
  readonly capabilities: CallCapabilities
}

/** `call.left`. */
export interface CallLeft extends RoomEvent {
  readonly room_session?: RoomSession
  readonly call_id: string
  readonly member_id: string
  readonly origin_call_id: string
  readonly reason?: string
}

/** `call.updated`: a change of the room. */
export interface CallUpdated extends RoomEvent {
  readonly room_session: RoomSession
}

/** `member.joined` and `member.left`. */
export interface MemberEvent extends RoomEvent {
  readonly member: Member
  /** With `member.left`. */
  readonly reason?: string
}

/** `member.updated`. */
export interface MemberUpdated extends RoomEvent {
  /** Current state of the member; `updated` names the changed fields. */
  readonly member: Member & { readonly updated: readonly string[] }
}

/** `memberList.updated`: after each change of the members. */
export interface MemberList {
  readonly members: readonly Member[]
}

/** `member.talking`. */
export interface MemberTalking extends RoomEvent {
  readonly member: { readonly member_id: string; readonly talking: boolean; readonly node_id?: string }
}

/** Position in a layout. `x`, `y`, `width` and `height` are percentages of the whole picture. */
export interface LayoutLayer {
  readonly member_id?: string
  readonly layer_index: number
  readonly z_index: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly position: string
  readonly reservation?: string | null
  readonly playing_file?: boolean
  readonly visible?: boolean
}

/** Arrangement of a room's video. */
export interface Layout {
  readonly id: string
  readonly name: string
  readonly layers: readonly LayoutLayer[]
}

/** `layout.changed`. */
export interface LayoutChanged extends RoomEvent {
  readonly layout: Layout
}

/**
 * `call.state`: state of the call at the gateway. Times are in milliseconds since the epoch; 0 if not
 * reached.
 */
export interface ServerCallState {
  readonly call_id: string
  readonly node_id: string
  readonly segment_id: string
  readonly call_state: 'created' | 'ringing' | 'answered' | 'ending' | 'ended'
  readonly direction: 'inbound' | 'outbound'
  readonly device: { readonly type: string; readonly params: Readonly<Record<string, unknown>> }
  readonly start_time: number
  readonly answer_time: number
  readonly end_time: number
  readonly room_session_id?: string
}

/** `call.play`, `call.connect`, `call.room` and `ai.…`: progress of the call's handler. */
export interface ServerCallEvent {
  readonly call_id: string
  readonly node_id: string
  readonly room_session_id?: string
  readonly [field: string]: unknown
}
