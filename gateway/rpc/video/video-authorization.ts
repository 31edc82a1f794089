import type { RoomGrant } from '../../auth/room-token-claims.ts'
import type { BrowserSession } from '../subscriber/browser-session.ts'

/** Media that the SDK sends and receives by itself when it joins. */
type AllowedMedia = 'none' | 'receive' | 'both'

/**
 * Returns the `authorization` in the results of `signalwire.connect` and `signalwire.reauthenticate`. It has
 * no `jti`, by which the SDK recognises the tokens of subscribers.
 */
export const videoAuthorization = ({ tokenId, expiresAt, identity }: BrowserSession, room: RoomGrant) => {
  const { projectId, displayName } = identity
  return {
    type: 'video',
    project: projectId,
    project_id: projectId,
    scopes: ['video'],
    scope_id: projectId,
    resource: room.room,
    join_as: room.role,
    user_name: displayName,
    room: {
      name: room.room,
      display_name: room.roomDisplayName ?? room.room,
      scopes: room.permissions,
      meta: room.roomMeta ?? {},
    },
    // The SDK resumes a protocol only if its second part is this text.
    signature: tokenId,
    expires_at: expiresAt,
    media_allowed: room.media,
    audio_allowed: audioOf(room),
    video_allowed: videoOf(room),
    meta: room.meta,
  }
}

/** A call needs a line of audio. Without sound for the holder it carries silence. */
const audioOf = ({ role, media }: RoomGrant): AllowedMedia =>
  role === 'audience' || media === 'video-only' ? 'receive' : 'both'

const videoOf = ({ role, media }: RoomGrant): AllowedMedia => {
  if (media === 'audio-only') return 'none'
  return role === 'audience' ? 'receive' : 'both'
}
