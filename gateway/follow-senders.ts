import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/types.ts'
import { shieldOf, viaPortNetworksOf } from './agent-options.ts'
import type { Directory, Senders } from './directory/types.ts'
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

/** What of the configuration concerns senders. */
export type SendersConfig = Pick<Config, 'sip' | 'carriers' | 'project'>

/**
 * Has the SIP edge follow the directory: carriers and domain applications come and go while the gateway runs. What comes back takes another
 * configuration.
 */
export const followSenders = (
  config: SendersConfig,
  directory: Pick<Directory, 'onSenders'>,
  { carriers, trust, agent }: Followers,
): ((next: SendersConfig) => void) => {
  let present = config
  let senders: Senders = { domains: [], carriers: [] }
  const apply = (shieldChanged: boolean) => {
    const { carriers: declared, project: first, sip } = present
    // Each belongs to a project from now on: what names none is the first one's.
    const own = declared.map((carrier) => ({ project: first, ...carrier }))
    const all = { domains: senders.domains, carriers: [...own, ...senders.carriers] }
    carriers.change(all.carriers)
    // The agent looks at every source anew, so it hears only of what changed.
    if (trust.change(all) || shieldChanged) agent?.change({ shield: shieldOf(sip, trust.networks) })
  }
  directory.onSenders((found) => {
    senders = found
    apply(false)
  })
  return (next) => {
    const shieldChanged = !isDeepStrictEqual(next.sip.shield, present.sip.shield)
    const viaPortNetworks = viaPortNetworksOf(next.carriers)
    if (!isDeepStrictEqual(viaPortNetworks, viaPortNetworksOf(present.carriers)))
      agent?.change({ viaPortNetworks })
    present = next
    apply(shieldChanged)
  }
}
