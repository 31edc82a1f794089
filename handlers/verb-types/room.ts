import type { Cancellable } from './cancel.ts'

/** Options of {@link CallControl.joinRoom}. */
export interface RoomOptions extends Cancellable {
  /**
   * Name of the room at `/public/<name>`, or its address `/context/name`. A room that the project does not
   * have exists while it has members.
   */
  readonly name: string
  /** Called when the caller has joined. */
  readonly onJoined?: (member: RoomMembership) => void
}

/** Ids of a caller in a room. */
export interface RoomMembership {
  readonly roomId: string
  readonly roomSessionId: string
  readonly memberId: string
}

/** Result of a time in a room. */
export interface RoomResult {
  /**
   * Reason for the end. `left`: by a verb or a signal. `removed`: by another member. `expired`: the room
   * limits the time of its members. `ended`: the room session ended.
   */
  readonly kind: 'left' | 'removed' | 'expired' | 'ended'
  readonly roomId: string
  readonly roomSessionId: string
  readonly durationMs: number
}
