import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { AgentLink } from './agent-link.ts'
import type { GatewayHeaders } from './gateway-headers.ts'

/** Connection to the agent, with the headers, clock and log of all SIP calls. */
export interface SipContext {
  readonly link: Pick<AgentLink, 'srf' | 'connection' | 'capabilities'>
  readonly headers: GatewayHeaders
  readonly clock: Clock
  readonly log: Log
}
