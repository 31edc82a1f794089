import type { Code } from '../../core/errors/catalogue.ts'
import { BrowserInboundLeg } from './browser-inbound-leg.ts'
import type { BrowserSession } from './browser-session.ts'
import type { Invite } from './verto-messages.ts'

/**
 * Returns the reason for rejecting an invite under an id that its session does not know; undefined for a new
 * call. A page that comes back to its call must know the id, and must not have sent a wrong proof of its
 * session. The holder of a room token has one call, and always comes back to it.
 */
export const reattachFault = (
  browser: BrowserSession,
  { callId, part, isReattaching }: Pick<Invite, 'callId' | 'part' | 'isReattaching'>,
): Code | undefined => {
  if (part) return undefined
  if (browser.claimed?.calls.has(callId)) return 'call_elsewhere'
  const comesBack = isReattaching || browser.identity.room !== undefined
  return comesBack && hasDialedCall(browser) ? 'unknown_call' : undefined
}

/** Whether a session has a call that its page has dialed, and that is answered. */
const hasDialedCall = ({ calls }: BrowserSession): boolean =>
  [...calls.values()].some(
    (call) => call instanceof BrowserInboundLeg && call.browserCall()?.leg.isAnswered === true,
  )
