import type { Config } from '../../config/types.ts'
import { composerReason } from '../../media/compose/pictures.ts'

/** Returns the reason why no pictures of video rooms are composed, in one line; undefined if they are. */
export const noComposing = ({ media: { rooms } }: Pick<Config, 'media'>): string | undefined =>
  rooms.picture === 'speaker' ? 'media.rooms.picture is speaker' : composerReason()
