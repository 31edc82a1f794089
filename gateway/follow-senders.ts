import type { Config } from '../config/types.ts'
import { shieldOf } from './agent-options.ts'
import type { Directory } from './directory/types.ts'
import type { Carriers } from './sip/carriers/carriers.ts'
import type { Trust } from './sip/door/trust.ts'
import type { SipAgent } from './sip-agent/index.ts'

/** What depends on who may send, and by whom calls go out. */
export interface Followers {
  readonly carriers: Carriers
  readonly trust: Trust
  /** Undefined: there is no embedded one. */
  readonly agent: Pick<SipAgent, 'change'> | undefined
}

/** Has the SIP edge follow the directory: carriers and domain applications come and go while the gateway runs. */
export const followSenders = (
  { sip, carriers: declared, project: first }: Pick<Config, 'sip' | 'carriers' | 'project'>,
  directory: Pick<Directory, 'onSenders'>,
  { carriers, trust, agent }: Followers,
): void => {
  // Each belongs to somebody from now on: what names no project is the first one's.
  const own = declared.map((carrier) => ({ project: first, ...carrier }))
  directory.onSenders((senders) => {
    const all = { domains: senders.domains, carriers: [...own, ...senders.carriers] }
    carriers.change(all.carriers)
    // Every source has to be looked at anew: not to be told without need.
    if (trust.change(all)) agent?.change({ shield: shieldOf(sip, trust.networks) })
  })
}
