import type { Call, RoomTrack } from '@trunkline/client'
import { useCallback, useSyncExternalStore } from 'react'

const none: ReadonlyMap<string, RoomTrack> = new Map()

/**
 * Returns the separate cameras and screens that a call receives, by the id of the member. Empty without a
 * call, or without its option `tracks`. `call.tracks.show()` says which members the page shows. {@link
 * useStream} shows a `new MediaStream([track])`, which the page keeps with `useMemo`.
 */
export const useRoomTracks = (call: Call | undefined): ReadonlyMap<string, RoomTrack> => {
  const subscribe = useCallback(
    (listener: () => void) => {
      call?.on('tracks', listener)
      return () => call?.off('tracks', listener)
    },
    [call],
  )
  const read = () => call?.tracks.all ?? none
  return useSyncExternalStore(subscribe, read, read)
}
