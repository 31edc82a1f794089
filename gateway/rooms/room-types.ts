/** Types of the video room: settings, members, pictures, and the media that a room needs. */
import type { Cause } from '../core/errors/catalogue.ts'
import type { StatusTarget } from '../model.ts'
import type { LayoutName } from './layouts/layout-names.ts'

/** Settings of a room. Times are ms since the epoch. */
export interface RoomSettings {
  readonly id: string
  readonly projectId: string
  /** Name in the room's address. */
  readonly name: string
  readonly displayName: string
  /** Maximum number of members, screens included; default 20. */
  readonly maxMembers: number
  /** Layout at the start of each session; default `grid-responsive`. */
  readonly layout: LayoutName
  /** Earliest and latest time of joining; default any. */
  readonly joinFrom?: number
  readonly joinUntil?: number
  /** Time at which all members are removed; default never. */
  readonly removeAt?: number
  /** Time after which each member is removed, in ms from its joining; default never. */
  readonly removeAfterMs?: number
  /** Whether members hear a tone when a member joins or leaves; default true. */
  readonly hasTones: boolean
  /** Whether members join with their video muted; default false. */
  readonly isVideoOffAtJoin: boolean
  /** Whether raised hands come before speakers when the slots are too few; default false. */
  readonly isHandraisePrioritized: boolean
  readonly recordOnStart: boolean
  /** Whether recordings have files of each member; default false. */
  readonly recordMembers: boolean
  /** Storage of the customer that recordings are uploaded to; default none. */
  readonly recordingStorage?: { readonly url: string; readonly method: 'PUT' | 'POST' }
  /** Whether names stand over cameras in a composed picture; default false: in plain tiles only. */
  readonly hasNames: boolean
  /** Data of the application for the room. */
  readonly meta: Meta
  /** Target that receives the events of each session; default none. */
  readonly statusTarget?: Pick<StatusTarget, 'url' | 'method'>
}

/** Data that an application attaches to a room or a member; JSON values. */
export type Meta = Readonly<Record<string, unknown>>

/** Changeable state of a member, by the names in events. */
export interface RoomMemberState {
  readonly handraised: boolean
  readonly audio_muted: boolean
  readonly video_muted: boolean
  readonly deaf: boolean
  /** −50 … 50. */
  readonly input_volume: number
  readonly output_volume: number
  /** 0 … 100. */
  readonly input_sensitivity: number
  readonly echo_cancellation: boolean
  readonly auto_gain: boolean
  readonly noise_suppression: boolean
}

/** Media that a member may send, and whether it hears the room. Default everything. */
export interface MemberMedia {
  readonly canSpeak: boolean
  readonly canHear: boolean
  readonly canShow: boolean
}

/** Media that the holder of a room token may send and receive. */
export type MediaAllowed = 'all' | 'audio-only' | 'video-only'

/** Holder of a room token, whose role in the room can change. */
export interface TokenHolder {
  /** Id of the token. With it, a demoted holder stays in the audience until the end of the session. */
  readonly tokenId: string
  readonly mediaAllowed: MediaAllowed
}

/** Rights of a member in its new role. */
export interface RoleChange {
  /** Default as before. */
  readonly mediaAllowed?: MediaAllowed
  /** Names of permissions; default as before. */
  readonly permissions?: readonly string[]
  /** Whether a promoted member is muted; default false. */
  readonly isAudioMuted?: boolean
  readonly isVideoMuted?: boolean
  /** Data of the member in place of the present one; default as before. */
  readonly meta?: Meta
}

/** Position of a member in a layout: wanted, or present. */
export type Position =
  | 'auto'
  | 'off-canvas'
  | 'playback'
  | 'full-screen'
  | `standard-${number}`
  | `reserved-${number}`

/** Member of a room session, read-only for those outside the session. */
export interface RoomMember {
  readonly id: string
  readonly type: 'member' | 'screen' | 'device'
  /** Member that a screen or a device belongs to. */
  readonly parentId?: string
  /** Id of the member's call in its page, or of its leg. */
  readonly callId: string
  readonly name: string
  readonly subscriberId: string | null
  readonly addressId: string | null
  /** Whether the member is a telephone, which never has a picture. */
  readonly isPhone: boolean
  /** Whether the member sends nothing, and is not listed. */
  readonly isAudience: boolean
  readonly media: MemberMedia
  /** Absent for a member without a room token, whose role never changes. */
  readonly holder?: TokenHolder | undefined
  /** ms since the epoch. */
  readonly joinedAt: number
  readonly state: RoomMemberState
  readonly meta: Meta
  /** Whether the member sends video. A muted video may still be sent. */
  readonly hasVideo: boolean
  /** Whether others can see the member: it sends video that is not muted, and is not on hold. */
  readonly isVisible: boolean
  readonly isTalking: boolean
  readonly isOnHold: boolean
  readonly requestedPosition: Position
  /** Reason for which the room removes the member; undefined before that, and if it leaves by itself. */
  readonly removal: RemovalReason | undefined
}

/** Rectangle of a canvas, in percent from the top left corner. */
export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** One rectangle of a layout, with its member if it is taken. */
export interface Layer extends Rectangle {
  /** 0 is drawn first. */
  readonly z: number
  /** Name of the slot; also the present position of the member in it. */
  readonly position: Position
  readonly memberId?: string
  /** Playback whose pictures fill the rectangle, in place of a member. */
  readonly playbackId?: string
  /** Whether the member's video is visible; true for an empty slot. */
  readonly isVisible: boolean
}

/** A layout with its members, as one viewer sees it. */
export interface Layout {
  readonly name: LayoutName
  readonly layers: readonly Layer[]
}

/**
 * Picture that the viewers of a room receive. `speaker`: one camera, forwarded undecoded; all viewers see
 * `main`, but `main` itself sees `other`. Without `other`, `main` sees itself. A screen or a playback as
 * `main` is shown to all, as no viewer has its id. Without `main`, the picture is plain.
 * `composed`: all viewers see one canvas with the visible members.
 */
export type Picture =
  | { readonly kind: 'speaker'; readonly main?: string; readonly other?: string }
  | { readonly kind: 'composed'; readonly layers: readonly PictureLayer[] }

/** Kind of a picture. */
export type PictureKind = Picture['kind']

/** Rectangle of a composed picture. */
export interface PictureLayer extends Rectangle {
  readonly z: number
  /** Id of the member, or of the playback, whose video fills the rectangle. */
  readonly memberId: string
  /** Whether the video is drawn; else the rectangle is plain. */
  readonly isVisible: boolean
  /** Name in the rectangle while it is plain; screens have none. */
  readonly name?: string
  /** Whether the name is also shown over the video; absent if not. */
  readonly isCaptioned?: true
}

/** Media of one room session, by the ids of its members. */
export interface RoomMedia {
  /** Applies what a member's voice does: others hear it, and it hears the others. */
  setAudio(member: RoomMember): void
  /** Shows a picture to all viewers. */
  show(picture: Picture): void
  /** Prepares for a picture with this member, who may be the next speaker. */
  expect(memberId: string): void
  /** Plays the tone of a member that joins or leaves. */
  playTone(kind: 'join' | 'leave'): void
  /** Starts a recording. Throws an error with a code of the catalogue. */
  record(order: RecordingTerms): RoomMediaRecording
  /** Whether files can be played, for which the gateway needs ffmpeg. */
  readonly hasFfmpeg: boolean
  /**
   * Plays a file to all. Calls `onPicture` once the file has pictures to show. Throws an error with a code of
   * the catalogue.
   */
  play(request: PlaybackRequest, onPicture: () => void): RoomMediaPlayback
  /** Streams the room to a server. Throws an error with a code of the catalogue. */
  stream(url: string): RoomMediaStream
}

/** Stream that the media of a room makes. */
export interface RoomMediaStream {
  readonly id: string
  /** URL without its secrets. */
  readonly url: string
  /** Settles at the end. `failure`: reason if the server could not be reached, or did not take the stream. */
  readonly done: Promise<{ readonly failure?: string }>
  stop(): void
}

/** Stream of a room session to a server. Times are ms since the epoch. */
export interface RoomStream {
  readonly id: string
  /** URL without its secrets. */
  readonly url: string
  readonly state: 'streaming' | 'completed'
  readonly startedAt: number
  readonly endedAt?: number
  readonly durationMs: number
  /** Reason of an end by a failure. */
  readonly failure?: string
}

/** File to play into a room. */
export interface PlaybackRequest {
  readonly url: string
  /** −50 to 50 dB. */
  readonly volume: number
  /** Place in the file at which it begins, in ms. */
  readonly fromMs: number
}

/** Playback that the media of a room makes. After its end, calls have no effect. */
export interface RoomMediaPlayback {
  readonly id: string
  /** URL without its secrets. */
  readonly url: string
  /** Place in the file, in ms. */
  readonly positionMs: number
  /** Settles at the end. `failure`: reason if the file could not be fetched, read or played. */
  readonly done: Promise<{ readonly failure?: string }>
  pause(): void
  resume(): void
  /** `toMs`: at least 0. */
  seek(toMs: number): void
  setVolume(volume: number): void
  stop(): void
}

/** Playback of a room session. Times are ms since the epoch. */
export interface RoomPlayback {
  readonly id: string
  /** URL without its secrets. */
  readonly url: string
  readonly state: 'playing' | 'paused' | 'completed'
  /** −50 to 50 dB. */
  readonly volume: number
  /** Place in the file, in ms. */
  readonly positionMs: number
  readonly startedAt: number
  readonly endedAt?: number
  /** Reason of an end by a failure. */
  readonly failure?: string
}

/** Recording that the media of a room makes. After its end, calls have no effect. */
export interface RoomMediaRecording {
  readonly id: string
  /**
   * Settles when the file is complete, with the duration of the file. An `end` of the kind `error` is a
   * failure, also with a file of what came before it.
   */
  readonly done: Promise<{ readonly durationMs: number; readonly end: { readonly kind: string } }>
  /** Leaves what follows out of the file. */
  pause(): void
  resume(): void
  stop(): void
}

/** Terms of one recording. */
export interface RecordingTerms {
  /** Whether each member has files of its own beside the picture and the sound of the room. */
  readonly hasMembers: boolean
}

/** Recording of a room session. Times are ms since the epoch. */
export interface RoomRecording {
  readonly id: string
  /** `failed`: a fault ended it; the file, if any, has what came before. */
  readonly state: 'recording' | 'paused' | 'completed' | 'failed'
  readonly startedAt: number
  readonly endedAt?: number
  /** Duration so far, without pauses, in ms. */
  readonly durationMs: number
}

/** Cause of a removal by the room: by a member or the API, at the end of the session, or by a time limit. */
export type RemovalReason = NonNullable<Cause['removal']>

/** Cause of a departure. `left`: the member hung up or was lost. */
export type LeaveReason = 'left' | RemovalReason

/** Party that takes the place of a member. */
export interface RoomParty
  extends Pick<JoinOptions, 'callId' | 'name' | 'subscriberId' | 'addressId' | 'isPhone' | 'media' | 'meta'> {
  /**
   * Whether it is the same party over another connection, which keeps its state and its metadata; default
   * false.
   */
  readonly isRenewal?: boolean
}

/** Facts of a member that joins. */
export interface JoinOptions {
  /** Unique within the session. */
  readonly id: string
  readonly type: RoomMember['type']
  /** Member that a screen or a device belongs to; required for these. */
  readonly parentId?: string
  readonly callId: string
  readonly name: string
  readonly subscriberId: string | null
  readonly addressId: string | null
  readonly isPhone: boolean
  /** Default false. */
  readonly isAudience?: boolean
  /** Media that the member may send and hear; default all. An audience sends none in any case. */
  readonly media?: MemberMedia
  /** Default none. */
  readonly holder?: TokenHolder
  /** Time limit of the member in ms, beside that of the room; default none. */
  readonly removeAfterMs?: number
  /** Whether the session ends when the member leaves; default false. */
  readonly endsSessionOnLeave?: boolean
  /** Default empty. */
  readonly meta?: Meta
  /** Initial state in place of the defaults. A mute given here is the member's own. */
  readonly state?: Partial<RoomMemberState>
  /** Whether the member already sends video; default false. */
  readonly hasVideo?: boolean
  /** Default `auto`. */
  readonly requestedPosition?: string
  /** Layout while this screen or device is present, in place of the chosen one; default none. */
  readonly layout?: string
  /** Called once if the room removes the member. The session removes it afterwards in any case. */
  readonly onRemoved: (reason: RemovalReason) => void
}

/**
 * Event of a room session. Events of members also concern the audience, which dialects do not list. Members
 * in events have their state at the time of delivery.
 */
export type RoomEvent =
  | { readonly kind: 'member.joined'; readonly member: RoomMember }
  | { readonly kind: 'member.left'; readonly member: RoomMember; readonly reason: LeaveReason }
  | { readonly kind: 'member.updated'; readonly member: RoomMember; readonly updated: readonly string[] }
  | { readonly kind: 'member.talking'; readonly member: RoomMember }
  /** Another party has the place of a member, under the same id. */
  | { readonly kind: 'member.replaced'; readonly member: RoomMember }
  /** A member of the audience is a member now, or the reverse. */
  | {
      readonly kind: 'member.promoted' | 'member.demoted'
      readonly member: RoomMember
      readonly change: RoleChange
    }
  | { readonly kind: 'room.updated'; readonly updated: readonly string[] }
  /** Voice has changed the speaker. */
  | { readonly kind: 'speaker.changed' }
  /** The layout of a viewer changed. The first layout of a viewer that joins has no event of its own. */
  | { readonly kind: 'layout.changed' }
  | {
      readonly kind: 'recording.started' | 'recording.updated' | 'recording.ended'
      readonly recording: RoomRecording
    }
  | {
      readonly kind: 'playback.started' | 'playback.updated' | 'playback.ended'
      readonly playback: RoomPlayback
    }
  | { readonly kind: 'stream.started' | 'stream.ended'; readonly stream: RoomStream }
  /** The last event of a session. */
  | { readonly kind: 'room.ended' }
