import type { OpenBrowserRoom } from '../subscriber/rooms/browser-room.ts'
import { SubscriberRoom } from '../subscriber/rooms/subscriber-room.ts'
import { TokenRoom } from './token-room.ts'

/** Opens the events of a room in the dialect of the browser's token. */
export const openBrowserRoom: OpenBrowserRoom = (options) =>
  options.browser.identity.room ? new TokenRoom(options) : new SubscriberRoom(options)
