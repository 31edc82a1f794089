import type { Diversion } from '@trunkline/sip-agent'
import type { Log } from '../core/log.ts'
import { shownUri } from '../core/sip-uri.ts'
import { printable } from '../sip/headers.ts'

/**
 * Logs a dialog whose route the embedded agent does not follow. The line is a warning for a carrier: a server
 * missing in its `allow` receives no BYE and no refresh. For other peers the level is info, because their
 * routes may be attacks.
 */
export const logDiversion = (log: Pick<Log, 'info' | 'warn'>, diversion: Diversion): void => {
  const { callId, method, nextHop, sentTo, carrier } = diversion
  const facts = {
    event: 'sip.route-not-followed',
    sipCallId: printable(callId, 256),
    method,
    nextHop: printable(shownUri(nextHop), 256),
    sentTo,
    ...(carrier !== undefined && { carrier }),
  }
  log[carrier === undefined ? 'info' : 'warn'](facts, 'request inside a dialog sent back to its peer')
}
