import type { PermissionScope, RoomAction } from '../../rooms/permissions.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { RoomMember } from '../../rooms/room-types.ts'

/** Sender of requests about a room: a browser that is a member, or an application. */
export interface RoomActor {
  readonly session: RoomSession
  /** Own member; undefined for an application. */
  readonly member?: RoomMember | undefined
  /** Whether the sender sees telephone numbers masked. */
  readonly isGuest: boolean
  /** Whether the sender may do something with its own member, other members or the room. */
  may(action: RoomAction, scope: PermissionScope): boolean
}
