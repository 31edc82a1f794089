/** Permissions of room tokens. */

/** Object of a permitted change: the own member, another member, or the room. */
export type PermissionScope = 'self' | 'member' | 'room'

/** Actions on one member. */
const memberActions = [
  'audio_mute',
  'audio_unmute',
  'video_mute',
  'video_unmute',
  'deaf',
  'undeaf',
  'set_input_volume',
  'set_output_volume',
  'set_input_sensitivity',
  'set_position',
  'set_meta',
  'raisehand',
  'lowerhand',
] as const

/** Actions on the own member. */
const selfActions = [...memberActions, 'screenshare', 'additional_source'] as const

/** Actions on other members. */
const otherActions = [...memberActions, 'remove', 'promote', 'demote'] as const

/** Actions on the room. */
const roomActions = [
  'hide_video_muted',
  'show_video_muted',
  'list_available_layouts',
  'lock',
  'unlock',
  'playback',
  'playback_seek',
  'prioritize_handraise',
  'recording',
  'set_layout',
  'set_position',
  'set_meta',
  'stream',
] as const

/** Action that a permission permits. */
export type RoomAction =
  | (typeof selfActions)[number]
  | (typeof otherActions)[number]
  | (typeof roomActions)[number]

/** Name of a permission. */
export type RoomPermission =
  | `room.self.${(typeof selfActions)[number]}`
  | `room.member.${(typeof otherActions)[number]}`
  | `room.${(typeof roomActions)[number]}`

/** All permissions that a token may list. */
export const roomPermissions: readonly RoomPermission[] = [
  ...selfActions.map((action) => `room.self.${action}` as const),
  ...otherActions.map((action) => `room.member.${action}` as const),
  ...roomActions.map((action) => `room.${action}` as const),
]

/** Permissions that only a gateway with ffmpeg can grant. */
const ofFfmpeg: ReadonlySet<string> = new Set<RoomPermission>([
  'room.playback',
  'room.playback_seek',
  'room.stream',
])

/** Permissions of a token that lists none: all on the own member. */
export const defaultPermissions: readonly RoomPermission[] = roomPermissions.filter((name) =>
  name.startsWith('room.self.'),
)

/** Permissions of the tokens of a conference: moderators have all, and guests those on their own member. */
export const conferencePermissions: Readonly<Record<'moderator' | 'guest', readonly RoomPermission[]>> = {
  moderator: roomPermissions,
  guest: defaultPermissions,
}

/**
 * Returns the permissions of a list that a room can grant, in the order of the list. `hasFfmpeg`: whether the
 * gateway has ffmpeg.
 */
export const grantedPermissions = (listed: readonly string[], hasFfmpeg: boolean): readonly string[] =>
  listed.filter(
    (name) => roomPermissions.some((known) => known === name) && (hasFfmpeg || !ofFfmpeg.has(name)),
  )

/**
 * Returns whether a member may grant a permission: those on the own member to all, and others if it has them
 * itself. `may`: its own permissions.
 */
export const mayGrant = (
  may: (action: RoomAction, scope: PermissionScope) => boolean,
  name: string,
): boolean => {
  const [, scope, action] = /^room\.(self|member)\.(\w+)$/.exec(name) ?? []
  if (scope === 'self') return true
  const wanted = action ?? name.slice('room.'.length)
  return may(wanted as RoomAction, scope === 'member' ? 'member' : 'room')
}

/**
 * Returns whether granted permissions include an action. A permission on members includes the own member.
 */
export const isPermitted = (
  granted: readonly string[],
  action: RoomAction,
  scope: PermissionScope,
): boolean => {
  if (scope === 'room') return granted.includes(`room.${action}`)
  if (granted.includes(`room.member.${action}`)) return true
  return scope === 'self' && granted.includes(`room.self.${action}`)
}
