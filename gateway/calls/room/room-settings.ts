import { randomUUID } from 'node:crypto'
import { defaultRoomMembers } from '../../../config/schema/room-schema.ts'
import type { FoundRoom } from '../../directory/model/resource-types.ts'
import { type LayoutName, layoutNames } from '../../rooms/layouts/layout-names.ts'
import type { RoomSettings } from '../../rooms/room-types.ts'
import type { RoomProfile } from '../leg/room-seat.ts'

/**
 * Returns the settings of a session of a room. A room without a resource has the defaults, the given facts
 * and a new id.
 */
export const roomSettings = (
  { address, resource }: FoundRoom,
  projectId: string,
  newRoom: RoomProfile['newRoom'] = {},
): RoomSettings => {
  const name = address.split('/').at(-1) ?? address
  const { details } = resource ?? {}
  return {
    id: resource?.id ?? randomUUID(),
    projectId,
    name,
    displayName: (resource ?? newRoom).displayName ?? name,
    maxMembers: details?.maxMembers ?? defaultRoomMembers,
    layout: isLayout(details?.layout) ? details.layout : 'grid-responsive',
    ...(details?.joinFrom !== undefined && { joinFrom: details.joinFrom }),
    ...(details?.joinUntil !== undefined && { joinUntil: details.joinUntil }),
    ...(details?.removeAt !== undefined && { removeAt: details.removeAt }),
    ...(details?.removeAfterSeconds !== undefined && { removeAfterMs: details.removeAfterSeconds * 1000 }),
    hasTones: details?.toneOnEntryAndExit ?? true,
    isVideoOffAtJoin: details?.userJoinVideoOff ?? false,
    isHandraisePrioritized: details?.prioritizeHandraise ?? false,
    recordOnStart: details?.recordOnStart ?? false,
    recordMembers: details?.recordMembers ?? false,
    ...(details?.recordingStorageUrl !== undefined && {
      recordingStorage: {
        url: details.recordingStorageUrl,
        method: details.recordingStorageMethod ?? 'PUT',
      },
    }),
    hasNames: details?.names ?? false,
    meta: (details ?? newRoom).meta ?? {},
    ...(details?.statusCallbackUrl !== undefined && {
      statusTarget: { url: details.statusCallbackUrl, method: details.statusCallbackMethod ?? 'POST' },
    }),
  }
}

const isLayout = (name: string | undefined): name is LayoutName => layoutNames.some((each) => each === name)
