import type { Layout } from './member-types.ts'

/** Member of a {@link Room}, or a screen that a member shares. A new object after each change. */
export interface RoomMember {
  readonly id: string
  readonly name: string
  /** `screen`: a screen that the member `ownerId` shares. */
  readonly kind: 'member' | 'screen' | 'device'
  /** Id of the member that a screen or device belongs to; undefined for a member. */
  readonly ownerId: string | undefined
  /** Whether this is the client's own member. */
  readonly isSelf: boolean
  /** Whether the member is a telephone, which has no picture. */
  readonly isPhone: boolean
  /** Whether others see the member: it sends video that is not muted, and is not on hold. */
  readonly isVisible: boolean
  /** Whether the member shares a screen. */
  readonly isSharing: boolean
  readonly isOnHold: boolean
  readonly audioMuted: boolean
  readonly videoMuted: boolean
  readonly handRaised: boolean
  readonly talking: boolean
  /** Null for telephones and guests, and if the viewer is a guest. */
  readonly subscriberId: string | null
}

/** Changes of the room that the gateway permits to this client. */
export interface RoomRights {
  readonly lock: boolean
  readonly setLayout: boolean
  readonly muteOthers: boolean
  readonly remove: boolean
  readonly end: boolean
}

/**
 * Cause for which a call leaves a room. `removed`: by another member or an application. `ended`: the room
 * ended for all. `expired`: a time limit. `left`: any other cause.
 */
export type RoomClosing = 'left' | 'removed' | 'ended' | 'expired'

/** Events of a {@link Room}. */
export interface RoomEvents {
  /** A member joined, or shares a screen. */
  readonly joined: { readonly member: RoomMember }
  /** A member left, or its screen ended. */
  readonly left: { readonly member: RoomMember }
  /** The members or their states changed; also after `joined` and `left`. */
  readonly members: { readonly members: readonly RoomMember[] }
  readonly locked: { readonly isLocked: boolean }
  readonly layout: { readonly layout: Layout }
  /** The list of layouts changed: it depends on the picture that the gateway can make at present. */
  readonly layouts: { readonly layouts: readonly string[] }
  /** The call left the room. The last event. */
  readonly closed: { readonly reason: RoomClosing }
}

/** Mutes to set; a property that is left out stays unchanged. */
export interface MemberMutes {
  readonly audio?: boolean
  readonly video?: boolean
}
