import type { BrowserCall } from './browser-call.ts'
import type { BrowserSession } from './browser-session.ts'
import type { Invite } from './verto-messages.ts'

/**
 * Returns the call whose place an invite takes: that in a room in which the role of the browser has changed.
 * The browser then connects anew. Undefined without such a call, and for a further source.
 */
export const renewableCall = (
  browser: BrowserSession,
  { part }: Pick<Invite, 'part'>,
): BrowserCall | undefined => {
  if (part) return undefined
  for (const known of browser.calls.values()) {
    const call = known.browserCall(browser)
    if (call?.room?.renewal === 'awaited') return call
  }
  return undefined
}
