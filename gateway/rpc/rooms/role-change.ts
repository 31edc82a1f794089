import type { MediaAllowed, RoleChange } from '../../rooms/room-types.ts'
import { MemberRequestError } from './member-request-error.ts'
import { metaField } from './request-fields.ts'

const mediaNames: readonly MediaAllowed[] = ['all', 'audio-only', 'video-only']

/** Maximum number of permissions in a request, more than there are. */
const maxPermissions = 100

/** Reads the rights of a member in its new role. Throws {@link MemberRequestError} for an invalid field. */
export const roleChangeOf = (params: Readonly<Record<string, unknown>>): RoleChange => {
  const { media_allowed, permissions, join_audio_muted, join_video_muted, meta } = params
  return {
    ...(media_allowed !== undefined && { mediaAllowed: mediaField(media_allowed) }),
    ...(permissions !== undefined && { permissions: namesField(permissions) }),
    ...(join_audio_muted !== undefined && { isAudioMuted: join_audio_muted === true }),
    ...(join_video_muted !== undefined && { isVideoMuted: join_video_muted === true }),
    ...(meta !== undefined && { meta: metaField(meta) }),
  }
}

const mediaField = (value: unknown): MediaAllowed => {
  const found = mediaNames.find((name) => name === value)
  if (!found) throw new MemberRequestError('422', `media_allowed: expected ${mediaNames.join(', ')}`)
  return found
}

const namesField = (value: unknown): readonly string[] => {
  const isValid =
    Array.isArray(value) && value.length <= maxPermissions && value.every((name) => typeof name === 'string')
  if (!isValid)
    throw new MemberRequestError('422', `permissions: expected a list of at most ${maxPermissions} strings`)
  return value
}
