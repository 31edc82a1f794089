import type { BrowserSession } from '../browser-session.ts'
import type { BrowserRoom } from './browser-room.ts'

/**
 * Returns the room whose session a request of a browser names in `room_session_id`; undefined unless the
 * browser is a member of it.
 */
export const roomNamedBy = (
  browser: BrowserSession,
  { room_session_id: id }: Readonly<Record<string, unknown>>,
): BrowserRoom | undefined => {
  for (const known of browser.calls.values()) {
    const { room } = known.browserCall(browser) ?? {}
    if (room?.session.id === id) return room
  }
  return undefined
}
