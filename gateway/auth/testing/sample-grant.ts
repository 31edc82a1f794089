import type { RoomGrant } from '../room-token-claims.ts'

/** Returns the rights of a room token, those of a token without further fields unless given. */
export const sampleGrant = (changes: Partial<RoomGrant> = {}): RoomGrant => ({
  room: 'lounge',
  userName: 'Vera',
  permissions: ['room.self.audio_mute'],
  isAudioMuted: false,
  isVideoMuted: false,
  mayCreateRoom: true,
  endsSessionOnLeave: false,
  role: 'member',
  media: 'all',
  meta: {},
  ...changes,
})
