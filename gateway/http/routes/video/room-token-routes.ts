import { mediaGrants, type RoomGrant, roomRoles } from '../../../auth/room-token-claims.ts'
import type { RoomTokens } from '../../../auth/room-tokens.ts'
import type { ProjectRooms } from '../../../calls/room/project-rooms.ts'
import type { Clock } from '../../../core/clock.ts'
import { defaultPermissions, grantedPermissions, roomPermissions } from '../../../rooms/permissions.ts'
import { maxMetaCharacters } from '../../../rooms/room-meta.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite, ValidatedFields } from '../../requests/typed-routes.ts'
import { badField, text, withoutEffect, withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects } from '../shared/route-schemas.ts'

/** Collaborators of {@link roomTokenRoutes}. */
export interface RoomTokenDeps {
  readonly roomTokens: Pick<RoomTokens, 'issue'>
  /** Rooms, which need ffmpeg for some permissions. */
  readonly rooms: Pick<ProjectRooms, 'hasFfmpeg'>
  readonly requireProject: RequireProject
  readonly clock: Pick<Clock, 'now'>
}

/** Lifetime of a token from the time at which it admits its holder, in ms. */
const lifetimeMs = 86_400_000
/** Maximum lifetime of a token in ms. */
const maxLifetimeMs = 30 * 86_400_000
/**
 * Time by which a token outlives the latest time of joining, in ms. A page that joins too late then learns
 * the reason.
 */
const lateMs = 3_600_000
/** Maximum time in a room that can be set, in seconds. */
const maxSeconds = 200_000

const time = { type: 'string', format: 'date-time', maxLength: 40 } as const
const flag = { type: 'boolean' } as const
const data = {
  type: 'object',
  additionalProperties: true,
  description: `Data of the application, at most ${maxMetaCharacters} characters of JSON.`,
} as const

const properties = {
  room_name: {
    ...text(64),
    pattern: '^[A-Za-z0-9._-]+$',
    description: 'Name of the room at `/public/<name>`, the only one that the holder can join.',
  },
  user_name: { ...text(100), description: 'Name that the other members see; default Guest.' },
  permissions: {
    type: 'array',
    maxItems: 100,
    uniqueItems: true,
    items: { type: 'string', enum: [...roomPermissions] },
    description: 'Rights in the room; default the `room.self` ones. Unsupported ones are not granted.',
  },
  join_from: { ...time, description: 'Earliest time of joining; default any.' },
  join_until: { ...time, description: 'Latest time of joining; default the expiry of the token.' },
  remove_at: { ...time, description: 'Time at which the holder is removed; default never.' },
  remove_after_seconds_elapsed: {
    type: 'integer',
    minimum: 1,
    maximum: maxSeconds,
    description: 'Time after which the holder is removed, in seconds from joining; default never.',
  },
  join_audio_muted: {
    ...flag,
    description: 'Whether the holder joins with a muted microphone; default false.',
  },
  join_video_muted: { ...flag, description: 'Whether the holder joins with a muted camera; default false.' },
  auto_create_room: {
    ...flag,
    description: 'Whether the holder may join a room that the project does not have; default true.',
  },
  room_display_name: { ...text(200), description: 'Display name of a room that the token creates.' },
  end_room_session_on_leave: {
    ...flag,
    description: 'Whether all members are removed when the holder leaves; default false.',
  },
  join_as: {
    type: 'string',
    enum: roomRoles,
    description: 'Role of the holder; an `audience` sends nothing, and is not listed. Default `member`.',
  },
  media_allowed: {
    type: 'string',
    enum: mediaGrants,
    description: 'Media that the holder sends and receives; default `all`.',
  },
  room_meta: { ...data, description: `Data of a room that the token creates, as \`meta\`.` },
  meta: data,
  ...withoutEffect('enable_room_previews', 'sync_audio_video'),
} as const

type Body = ValidatedFields<typeof properties, 'room_name'>

/** Route that issues room tokens. */
export const roomTokenRoutes = (
  site: TypedSite,
  { roomTokens, rooms, requireProject, clock }: RoomTokenDeps,
): void => {
  const schema = {
    ...forProjects('tokens', 'create_room_token', 'Create a token for one room'),
    body: { type: 'object', required: ['room_name'], additionalProperties: false, properties },
    response: {
      200: { type: 'object', required: ['token'], properties: { token: { type: 'string' } } },
    },
  } as const
  const onRequest = requireProject('subscribers')
  site.post('/api/video/room_tokens', { onRequest, schema }, async ({ projectId, body }, reply) => {
    const grant = grantOf(body, rooms.hasFfmpeg)
    const { token } = await roomTokens.issue(projectId, grant, secondsOf(grant, clock.now()))
    return reply.header('cache-control', 'no-store').send({ token })
  })
}

/** Returns the rights of a body. Throws `invalid_field` for data that are too long. */
const grantOf = (body: Body, hasFfmpeg: boolean): RoomGrant => ({
  room: body.room_name,
  userName: body.user_name ?? '',
  permissions: body.permissions ? grantedPermissions(body.permissions, hasFfmpeg) : defaultPermissions,
  ...withoutUndefined({
    joinFrom: msOf(body.join_from),
    joinUntil: msOf(body.join_until),
    removeAt: msOf(body.remove_at),
    removeAfterMs: body.remove_after_seconds_elapsed && body.remove_after_seconds_elapsed * 1000,
    roomDisplayName: body.room_display_name,
    roomMeta: checked('room_meta', body.room_meta),
  }),
  isAudioMuted: body.join_audio_muted ?? false,
  isVideoMuted: body.join_video_muted ?? false,
  mayCreateRoom: body.auto_create_room ?? true,
  endsSessionOnLeave: body.end_room_session_on_leave ?? false,
  role: body.join_as ?? 'member',
  media: body.media_allowed ?? 'all',
  meta: checked('meta', body.meta) ?? {},
})

const msOf = (value: string | undefined): number | undefined =>
  value === undefined ? undefined : Date.parse(value)

const checked = <T extends object>(field: string, meta: T | undefined): T | undefined => {
  if (meta && JSON.stringify(meta).length > maxMetaCharacters)
    throw badField(field, `expected at most ${maxMetaCharacters} characters of JSON`)
  return meta
}

/**
 * Returns the lifetime of a token in seconds. Throws `invalid_field` for times that leave no time for
 * joining, or that are too far away.
 */
const secondsOf = ({ joinFrom, joinUntil, removeAt }: RoomGrant, now: number): number => {
  for (const [field, end] of [
    ['join_until', joinUntil],
    ['remove_at', removeAt],
  ] as const) {
    if (end === undefined) continue
    if (end <= now) throw badField(field, 'expected a time in the future')
    if (end <= (joinFrom ?? end - 1)) throw badField(field, 'expected a time after join_from')
  }
  const first = Math.max(now, joinFrom ?? now)
  const last = Math.min(joinUntil ?? first + lifetimeMs, removeAt ?? Number.POSITIVE_INFINITY)
  if (last - now <= maxLifetimeMs) return Math.ceil((last + lateMs - now) / 1000)
  const field = joinUntil === undefined ? 'join_from' : 'join_until'
  throw badField(field, 'expected a time in the next 30 days')
}
