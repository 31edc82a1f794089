import type { Diversion } from '@trunkline/sip-agent'
import type { Log } from '../core/log.ts'
import { shownUri } from '../core/sip-uri.ts'
import { printable } from '../sip/headers.ts'

/**
 * Logs a dialog whose route the embedded agent does not follow. For a carrier this is a warning: its servers
 * may be missing in its `allow`, and then its calls cannot be hung up or refreshed there. For other peers it
 * is information: their routes may be attacks.
 */
export const logDiversion = (log: Pick<Log, 'info' | 'warn'>, diversion: Diversion): void => {
  const { callId, method, nextHop, sentTo, carrier } = diversion
  const facts = {
    event: 'sip.route_not_followed',
    sipCallId: printable(callId, 256),
    method,
    nextHop: printable(shownUri(nextHop), 256),
    sentTo,
    ...(carrier !== undefined && { carrier }),
  }
  log[carrier === undefined ? 'info' : 'warn'](facts, 'a request inside a dialog went back to its peer')
}
