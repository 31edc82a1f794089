import { createHash, createHmac } from 'node:crypto'
import type { JWTPayload } from 'jose'

/** Media that the holder of a room token may send and receive. */
export const mediaGrants = ['all', 'audio-only', 'video-only'] as const

/** One of {@link mediaGrants}. */
export type MediaGrant = (typeof mediaGrants)[number]

/** Roles in a room. An `audience` hears and sees the members, and sends nothing. */
export const roomRoles = ['member', 'audience'] as const

/** One of {@link roomRoles}. */
export type RoomRole = (typeof roomRoles)[number]

/** Rights of the holder of a room token. Times are ms since the epoch. */
export interface RoomGrant {
  /** Name of the room at `/public/<name>`, or its address `/context/name`. */
  readonly room: string
  /** Id of the only room that the holder may join; absent: any room at the address. */
  readonly roomId?: string
  /** Name that the other members see. */
  readonly userName: string
  /** Names of permissions in the room. */
  readonly permissions: readonly string[]
  /** Earliest and latest time of joining; absent: any. */
  readonly joinFrom?: number
  readonly joinUntil?: number
  /** Time at which the holder is removed; absent: never. */
  readonly removeAt?: number
  /** Time after which the holder is removed, in ms from joining; absent: never. */
  readonly removeAfterMs?: number
  readonly isAudioMuted: boolean
  readonly isVideoMuted: boolean
  /** Whether the holder may join a room that the project does not have. */
  readonly mayCreateRoom: boolean
  /** Display name and data of a room that the project does not have. */
  readonly roomDisplayName?: string
  readonly roomMeta?: Readonly<Record<string, unknown>>
  /** Whether the session of the room ends when the holder leaves. */
  readonly endsSessionOnLeave: boolean
  readonly role: RoomRole
  readonly media: MediaGrant
  /** Data of the application for the member. */
  readonly meta: Readonly<Record<string, unknown>>
}

/** Content of a valid room token. */
export interface RoomToken {
  readonly kind: 'room'
  /** Id of the holder: equal for all tokens of one user name in a room. */
  readonly subscriberId: string
  readonly projectId: string
  /** Unique per token; without underscores, because the browser SDK splits the protocol at them. */
  readonly id: string
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** Version of the conference token that it was made from. A revocation of the version ends the token. */
  readonly source?: string
  readonly grant: RoomGrant
}

/** Returns the key that signs room tokens (HS256), derived from the gateway's secret. Must stay secret. */
export const roomTokenKey = (secret: Uint8Array): Uint8Array =>
  createHmac('sha256', secret).update('room tokens').digest()

/** Returns the header of a room token. `publicHost` becomes `ch`, the host for the browser SDK. */
export const roomTokenHeader = (publicHost?: string) => ({
  alg: 'HS256' as const,
  typ: 'VRT' as const,
  ...(publicHost && { ch: publicHost }),
})

/** Returns the id of the holder of tokens for a room. No subscriber has such an id. */
export const roomHolderId = (projectId: string, { room, userName }: Pick<RoomGrant, 'room' | 'userName'>) =>
  `room-${createHash('sha256')
    .update(JSON.stringify([projectId, room, userName]))
    .digest('base64url')}`

/** Returns the claims of a room token (RFC 7519 section 4). */
export const roomClaimsOf = ({
  projectId,
  id,
  issuedAt,
  expiresAt,
  source,
  grant,
}: RoomToken): JWTPayload => ({
  sub: roomHolderId(projectId, grant),
  jti: id,
  iat: issuedAt,
  exp: expiresAt,
  project: projectId,
  kind: 'room',
  ...(source !== undefined && { source }),
  // The published SDK uses this claim as the storage key of a tab's session and of the call to resume after
  // a reload.
  r: grant.room,
  ...(grant.roomId !== undefined && { ri: grant.roomId }),
  u: grant.userName,
  s: [...grant.permissions],
  acr: grant.mayCreateRoom,
  ...(grant.joinFrom !== undefined && { jf: grant.joinFrom }),
  ...(grant.joinUntil !== undefined && { ju: grant.joinUntil }),
  ...(grant.removeAt !== undefined && { ra: grant.removeAt }),
  ...(grant.removeAfterMs !== undefined && { rse: grant.removeAfterMs }),
  jam: grant.isAudioMuted,
  jvm: grant.isVideoMuted,
  ...(grant.roomDisplayName !== undefined && { rdn: grant.roomDisplayName }),
  ...(grant.roomMeta && { rm: grant.roomMeta }),
  er: grant.endsSessionOnLeave,
  ja: grant.role,
  ma: grant.media,
  m: grant.meta,
})

/** Reads verified claims. Returns undefined if one is missing or malformed. */
export const readRoomClaims = (claims: JWTPayload): RoomToken | undefined => {
  const { sub, jti, iat, exp, project, kind, source } = claims
  if (kind !== 'room' || !isText(jti) || jti.includes('_') || !isText(project)) return undefined
  if (!isTime(iat) || !isTime(exp) || !(source === undefined || isText(source))) return undefined
  const grant = readGrant(claims)
  if (!grant || sub !== roomHolderId(project, grant)) return undefined
  return {
    kind,
    subscriberId: sub,
    projectId: project,
    id: jti,
    issuedAt: iat,
    expiresAt: exp,
    ...(source !== undefined && { source }),
    grant,
  }
}

const readGrant = (claims: JWTPayload): RoomGrant | undefined => {
  const { r: room, ri: roomId, u: userName, s: permissions, m: meta } = claims
  const { rdn: roomDisplayName, rm: roomMeta, ja, ma } = claims
  const role = roomRoles.find((each) => each === ja)
  const media = mediaGrants.find((each) => each === ma)
  if (!role || !media || !isText(room) || typeof userName !== 'string' || !isRecord(meta)) return undefined
  if (!Array.isArray(permissions) || !permissions.every(isText)) return undefined
  if (![roomId, roomDisplayName].every(isTextOrAbsent)) return undefined
  if (roomMeta !== undefined && !isRecord(roomMeta)) return undefined
  const times = readTimes(claims)
  const flags = readFlags(claims)
  if (!times || !flags) return undefined
  return {
    room,
    ...(isText(roomId) && { roomId }),
    userName,
    permissions,
    ...times,
    ...flags,
    ...(isText(roomDisplayName) && { roomDisplayName }),
    ...(roomMeta && { roomMeta }),
    role,
    media,
    meta,
  }
}

type Times = Pick<RoomGrant, 'joinFrom' | 'joinUntil' | 'removeAt' | 'removeAfterMs'>

const readTimes = ({ jf, ju, ra, rse }: JWTPayload): Times | undefined => {
  if (![jf, ju, ra, rse].every((time) => time === undefined || isTime(time))) return undefined
  return {
    ...(isTime(jf) && { joinFrom: jf }),
    ...(isTime(ju) && { joinUntil: ju }),
    ...(isTime(ra) && { removeAt: ra }),
    ...(isTime(rse) && { removeAfterMs: rse }),
  }
}

type Flags = Pick<RoomGrant, 'mayCreateRoom' | 'isAudioMuted' | 'isVideoMuted' | 'endsSessionOnLeave'>

const readFlags = ({ acr, jam, jvm, er }: JWTPayload): Flags | undefined =>
  typeof acr === 'boolean' && typeof jam === 'boolean' && typeof jvm === 'boolean' && typeof er === 'boolean'
    ? { mayCreateRoom: acr, isAudioMuted: jam, isVideoMuted: jvm, endsSessionOnLeave: er }
    : undefined

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value)
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
