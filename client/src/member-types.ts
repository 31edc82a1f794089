/** A member of a call, as the gateway tells it. Fields beyond these may be there; any but the ids may be missing. */
export interface Member {
  readonly member_id: string
  readonly call_id: string
  readonly node_id: string
  /** `screen`: a screen that the member `parent_id` shares. */
  readonly type?: 'member' | 'screen' | 'device'
  readonly name?: string
  readonly room_id?: string
  readonly room_session_id?: string
  /** The member's pictures can be seen. */
  readonly visible?: boolean
  readonly handraised?: boolean
  readonly audio_muted?: boolean
  readonly video_muted?: boolean
  readonly deaf?: boolean
  readonly talking?: boolean
  /** -50 to 50; 0: as it is. */
  readonly input_volume?: number
  /** -50 to 50; 0: as it is. */
  readonly output_volume?: number
  /** 0 to 100. */
  readonly input_sensitivity?: number
  readonly echo_cancellation?: boolean
  readonly auto_gain?: boolean
  readonly noise_suppression?: boolean
  readonly subscriber_id?: string | null
  readonly address_id?: string | null
  readonly parent_id?: string | null
  readonly requested_position?: string
  readonly current_position?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Who a command is for. */
export interface MemberParams {
  /** Default: ourselves. `all`: everybody. */
  readonly memberId?: string
}

/** Params of {@link CallCommands.setInputVolume} and {@link CallCommands.setOutputVolume}. */
export interface VolumeParams extends MemberParams {
  /** -50 to 50; 0: as it is. */
  readonly volume: number
}

/** Params of {@link CallCommands.setInputSensitivity}. */
export interface SensitivityParams extends MemberParams {
  /** 0 to 100: how loud is loud enough to be let through. */
  readonly value: number
}

/** Params of {@link CallCommands.setRaisedHand}. */
export interface RaisedHandParams extends MemberParams {
  /** Default true. */
  readonly raised?: boolean
}

/** Params of {@link CallCommands.setAudioFlags}; one of the three at least. */
export interface AudioFlagsParams extends MemberParams {
  readonly echoCancellation?: boolean
  readonly autoGain?: boolean
  readonly noiseSuppression?: boolean
}

/** Positions by the id of a member, or `self`: `auto`, `reserved-1`, `standard-1`, `off-canvas`, `playback`, `full-screen`. */
export type Positions = Readonly<Record<string, string>>

/** Params of {@link CallCommands.setLayout}. */
export interface LayoutParams {
  /** One of those that {@link CallCommands.getLayouts} gives. */
  readonly name: string
  readonly positions?: Positions
}

/** Whether something may be switched on, and off. */
export interface OnOff {
  readonly on: boolean
  readonly off: boolean
}

/** What may be done to a member. Muting is "on": `muteAudio.on` lets the sound through again after `muteAudio.off`. */
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

/** What the gateway lets us do in a call. What is missing rejects at once with `no_capability`. */
export interface CallCapabilities {
  /** To ourselves. */
  readonly self: MemberCapabilities
  /** To the others. */
  readonly member: MemberCapabilities
  readonly end: boolean
  readonly setLayout: boolean
  readonly sendDigit: boolean
  readonly vmutedHide: OnOff
  readonly lock: OnOff
  readonly device: boolean
  readonly screenshare: boolean
}

/** A room, or a call of two, as the gateway tells it. */
export interface RoomSession {
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

/** Of each event of a room. */
export interface RoomEvent {
  readonly room_id?: string
  readonly room_session_id?: string
}

/** `call.joined`: we are in the call, or in the room that it was moved to. */
export interface CallJoined extends RoomEvent {
  readonly room_session: RoomSession
  readonly call_id: string
  readonly member_id: string
  readonly node_id?: string
  /** The id of our call; differs from `call_id` when it was moved. */
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

/** `call.updated`: something of the room changed. */
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
  /** The member as it is now; `updated` names the fields that changed. */
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

/** A place in a layout. `x`, `y`, `width` and `height` are percents of the picture. */
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

/** How the pictures of a room are arranged. */
export interface Layout {
  readonly id: string
  readonly name: string
  readonly layers: readonly LayoutLayer[]
}

/** `layout.changed`. */
export interface LayoutChanged extends RoomEvent {
  readonly layout: Layout
}

/** `call.state`: the call at the gateway. Times are in milliseconds since the epoch; 0: not yet. */
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

/** `call.play`, `call.connect` and `call.room`: what the call's handler does. */
export interface ServerCallEvent {
  readonly call_id: string
  readonly node_id: string
  readonly room_session_id?: string
  readonly [field: string]: unknown
}
