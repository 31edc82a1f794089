import type { MediaDirection, ScreenShareOptions, UpdateMediaParams } from './media-types.ts'
import type {
  AudioFlagsParams,
  CallCapabilities,
  Layout,
  LayoutParams,
  Member,
  MemberParams,
  Positions,
  RaisedHandParams,
  SensitivityParams,
  VolumeParams,
} from './member-types.ts'

/** What can be done to the members of a call and to the room that it is in. Each rejects with `no_capability`, `bad_state` or the server's error. */
export interface CallCommands {
  /** The members that the gateway told of, ourselves among them. */
  readonly members: readonly Member[]
  /** Ourselves; undefined before `call.joined`. */
  readonly selfMember: Member | undefined
  readonly memberId: string | undefined
  readonly roomSessionId: string | undefined
  /** Undefined before `call.joined`. */
  readonly capabilities: CallCapabilities | undefined
  /** Undefined where the gateway arranges no pictures. */
  readonly currentLayout: Layout | undefined
  getMembers(): Promise<{ readonly members: readonly Member[] }>
  audioMute(params?: MemberParams): Promise<void>
  audioUnmute(params?: MemberParams): Promise<void>
  videoMute(params?: MemberParams): Promise<void>
  videoUnmute(params?: MemberParams): Promise<void>
  deaf(params?: MemberParams): Promise<void>
  undeaf(params?: MemberParams): Promise<void>
  setInputVolume(params: VolumeParams): Promise<void>
  setOutputVolume(params: VolumeParams): Promise<void>
  setInputSensitivity(params: SensitivityParams): Promise<void>
  setRaisedHand(params?: RaisedHandParams): Promise<void>
  setAudioFlags(params: AudioFlagsParams): Promise<void>
  getLayouts(): Promise<{ readonly layouts: readonly string[] }>
  setLayout(params: LayoutParams): Promise<void>
  setPositions(params: { readonly positions: Positions }): Promise<void>
  removeMember(params: Required<MemberParams>): Promise<void>
  lock(): Promise<void>
  unlock(): Promise<void>
  end(params?: MemberParams): Promise<void>
}

/** The events of a {@link ScreenShare}. */
export interface ScreenShareEvents {
  readonly state: { readonly state: 'trying' | 'active' | 'ended' }
  readonly destroy: { readonly reason: Error }
}

/** A screen that a call shares. */
export interface ScreenShare {
  readonly id: string
  readonly state: 'trying' | 'active' | 'ended'
  readonly active: boolean
  /** What is shared, for a preview. */
  readonly localStream: MediaStream | undefined
  leave(): Promise<void>
  hangup(): Promise<void>
  on<Name extends keyof ScreenShareEvents>(
    name: Name,
    listener: (payload: ScreenShareEvents[Name]) => void,
  ): void
  off<Name extends keyof ScreenShareEvents>(
    name: Name,
    listener?: (payload: ScreenShareEvents[Name]) => void,
  ): void
}

/** What can be done to the sound and the pictures of a call. */
export interface CallMediaControls {
  /** Whether sound of the far side, and pictures, are negotiated to come. */
  readonly withAudio: boolean
  readonly withVideo: boolean
  /** What is sent and what comes. */
  readonly video: { readonly local: boolean; readonly remote: boolean }
  readonly localAudioTrack: MediaStreamTrack | null
  readonly localVideoTrack: MediaStreamTrack | null
  readonly microphoneId: string | null
  readonly cameraId: string | null
  readonly screenShareList: readonly ScreenShare[]
  updateMedia(params: UpdateMediaParams): Promise<void>
  setAudioDirection(direction: MediaDirection): Promise<void>
  setVideoDirection(direction: MediaDirection): Promise<void>
  updateCamera(constraints: MediaTrackConstraints): Promise<void>
  updateMicrophone(constraints: MediaTrackConstraints): Promise<void>
  updateSpeaker(speaker: { readonly deviceId: string }): Promise<void>
  startScreenShare(options?: ScreenShareOptions): Promise<ScreenShare>
}
