import type { OpenBrowserRoom } from '../subscriber/rooms/browser-room.ts'
import { RoomEvents } from '../subscriber/rooms/room-events.ts'
import { VideoRoom } from './video-room.ts'

/** Opens the events of a room in the dialect of the browser's token. */
export const openBrowserRoom: OpenBrowserRoom = (options) =>
  options.browser.identity.room ? new VideoRoom(options) : new RoomEvents(options)
