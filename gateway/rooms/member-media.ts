import type { MediaAllowed, MemberMedia } from './room-types.ts'

/** Returns what the holder of a room token may send, and whether it hears the room. */
export const memberMedia = (mediaAllowed: MediaAllowed, isAudience: boolean): MemberMedia => ({
  canSpeak: !isAudience && mediaAllowed !== 'video-only',
  canHear: mediaAllowed !== 'video-only',
  canShow: !isAudience && mediaAllowed !== 'audio-only',
})
