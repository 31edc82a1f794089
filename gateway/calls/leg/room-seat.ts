import type { BrowserSource, BrowserVideo, TrackLineUse } from '../../../media/types.ts'
import type { Party } from '../../model.ts'
import type { CameraSize } from '../../rooms/camera-sizes.ts'
import type { ShownMember } from '../../rooms/choose-tracks.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { JoinOptions, Meta, RoomMember, RoomMemberState } from '../../rooms/room-types.ts'

/** Facts about the far side of a leg, for the other members of a room. */
export interface RoomProfile
  extends Pick<JoinOptions, 'isAudience' | 'media' | 'holder' | 'removeAfterMs' | 'endsSessionOnLeave'> {
  /** Id of the member's call in its page. */
  readonly callId: string
  readonly name: string
  readonly subscriberId: string | null
  readonly addressId: string | null
  readonly meta: Meta
  /** Whether the leg is another connection of a page that is a member already; default false. */
  readonly isRenewal?: boolean
  /** State that the member brings into the room; default that of a new member. */
  readonly state: Partial<RoomMemberState>
  /** Facts of a room that the project does not have, if the member is its first; default by its name. */
  readonly newRoom?: { readonly displayName?: string; readonly meta?: Meta }
}

/** Further source that joins a room beside its member. `device`: a second camera or microphone, or both. */
export interface RoomSource {
  readonly type: 'screen' | 'device'
  readonly source: BrowserSource
  /** Id of the source's call in the page. */
  readonly callId: string
  /** Layout that the room gets with the source; default the present one. */
  readonly layout?: string
  /** Wanted position of the source; default by the layout. */
  readonly position?: string
  /** Called when another member removes the source, or the session ends. */
  readonly onRemoved: () => void
}

/** Facts of a leg from which its party in a room follows. */
export interface RoomLeg {
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: Party
  readonly to: Party
  /** Absent for a telephone. */
  readonly profile: RoomProfile | undefined
}

/** Receiver of the events of {@link SeatTracks}. */
export interface TrackListener {
  /** Handles a change: all lines that have a source. */
  changed(lines: readonly TrackLineUse[]): void
  /** Handles the end of the media, unless {@link SeatTracks.close} caused it. */
  ended(): void
}

/** Cameras and screens of a room that a browser receives on lines of their own, in place of the picture. */
export interface SeatTracks {
  /** Offer to the browser. */
  readonly sdp: string
  /** Applies the browser's answer. Rejects as `BrowserTracks.accept` does. */
  accept(answer: string): Promise<void>
  /** Sets the members that the page shows; undefined: all, chosen by the gateway alone. */
  show(shown: readonly ShownMember[] | undefined): void
  /** Requests a key frame for a line, or starts its stream again. */
  refresh(mid: string, isRenewed: boolean): void
  /** Ends the lines. Idempotent. */
  close(): void
}

/** Membership of a leg in a room, as its far side uses it. */
export interface RoomSeat {
  readonly session: RoomSession
  readonly member: RoomMember
  /** Shows a browser's video to the room, and the room's picture to the browser. */
  showVideo(video: BrowserVideo): void
  /** Calls `listener` with the size that the member's camera shall have, at once and after each change. */
  onCameraSize(listener: (size: CameraSize) => void): void
  /**
   * Opens lines for separate cameras, in place of former ones of the member. Ends with the membership at the
   * latest. Rejects with TrunklineError `room_failed` if the media has no room for them.
   */
  openTracks(lines: number, listener: TrackListener): Promise<SeatTracks>
  /**
   * Adds a further source, whose sound the member itself does not hear. Throws as `RoomSession.join` does,
   * and `not_permitted` if the member may send nothing of it.
   */
  addSource(source: RoomSource): RoomMember
  /** Removes a further source; no effect after it has left. */
  removeSource(source: RoomMember): void
  /** Gives the place to the party of another leg, whose audio arrives over the present one. */
  setParty(leg: RoomLeg): void
}
