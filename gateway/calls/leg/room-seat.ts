import type { BrowserScreen, BrowserVideo } from '../../../media/types.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { JoinOptions, Meta, RoomMember, RoomMemberState } from '../../rooms/room-types.ts'

/** Facts about the far side of a leg, for the other members of a room. */
export interface RoomProfile
  extends Pick<JoinOptions, 'isAudience' | 'media' | 'removeAfterMs' | 'endsSessionOnLeave'> {
  /** Id of the member's call in its page. */
  readonly callId: string
  readonly name: string
  readonly subscriberId: string | null
  readonly addressId: string | null
  readonly meta: Meta
  /** State that the member brings into the room; default that of a new member. */
  readonly state: Partial<RoomMemberState>
  /** Facts of a room that the project does not have, if the member is its first; default by its name. */
  readonly newRoom?: { readonly displayName?: string; readonly meta?: Meta }
}

/** Screen that joins a room beside its member. */
export interface RoomScreen {
  readonly screen: BrowserScreen
  /** Id of the screen's call in the page. */
  readonly callId: string
  /** Layout that the room gets with the screen; default the present one. */
  readonly layout?: string
  /** Wanted position of the screen; default by the layout. */
  readonly position?: string
  /** Called when another member removes the screen, or the session ends. */
  readonly onRemoved: () => void
}

/** Membership of a leg in a room, as its far side uses it. */
export interface RoomSeat {
  readonly session: RoomSession
  readonly member: RoomMember
  /** Shows a browser's video to the room, and the room's picture to the browser. */
  showVideo(video: BrowserVideo): void
  /** Adds a shared screen. Throws as `RoomSession.join` does. */
  addScreen(screen: RoomScreen): RoomMember
  /** Removes a shared screen; no effect after it has left. */
  removeScreen(screen: RoomMember): void
}
