import type { RoomGrant } from '../../../auth/room-token-claims.ts'
import type { RoomProfile } from '../../../calls/leg/room-seat.ts'
import { memberMedia } from '../../../rooms/member-media.ts'

/**
 * Returns the facts of a member that follow from a room token. `tokenId`: id of the token. `now`: ms since
 * the epoch.
 */
export const grantedProfile = (grant: RoomGrant, tokenId: string, now: number) => {
  const { removeAt = Number.POSITIVE_INFINITY, removeAfterMs = Number.POSITIVE_INFINITY } = grant
  const ms = Math.min(removeAfterMs, removeAt - now)
  return {
    isAudience: grant.role === 'audience',
    media: memberMedia(grant.media, grant.role === 'audience'),
    holder: { tokenId, mediaAllowed: grant.media },
    ...(Number.isFinite(ms) && { removeAfterMs: ms }),
    endsSessionOnLeave: grant.endsSessionOnLeave,
    meta: grant.meta,
    newRoom: {
      ...(grant.roomDisplayName !== undefined && { displayName: grant.roomDisplayName }),
      ...(grant.roomMeta && { meta: grant.roomMeta }),
    },
  } satisfies Partial<RoomProfile>
}

/** Returns the state in which the holder of a room token joins. */
export const grantedState = ({ isAudioMuted, isVideoMuted }: RoomGrant) => ({
  ...(isAudioMuted && { audio_muted: true }),
  ...(isVideoMuted && { video_muted: true }),
})
