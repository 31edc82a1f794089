import type { RoomSession } from '../../rooms/room-session.ts'
import type { Layer, Layout } from '../../rooms/room-types.ts'

/** Ids that each event of a room has. */
export const roomIds = ({ id, settings }: RoomSession) => ({ room_id: settings.id, room_session_id: id })

/** Returns the `layout` of `layout.changed`. Sizes are percentages of the canvas. */
export const layoutBody = (session: RoomSession, { name, layers }: Layout) => ({
  // Applications of the published SDK compare either of the two with the name that they set.
  id: name,
  name,
  ...roomIds(session),
  layers: layers.map(layerBody),
})

const layerBody = (
  { position, memberId, playbackId, isVisible, z, x, y, width, height }: Layer,
  index: number,
) => ({
  layer_index: index,
  z_index: z,
  ...(memberId !== undefined && { member_id: memberId }),
  position,
  reservation: position,
  visible: isVisible,
  playing_file: playbackId !== undefined,
  x,
  y,
  width,
  height,
})
