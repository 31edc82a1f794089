import { isDeepStrictEqual } from 'node:util'
import type { SipAgent, SipReach } from '@trunkline/sip-agent'
import type { Config } from '../../config/types.ts'
import type { Directory, Senders } from '../directory/types.ts'
import type { Trust } from '../sip/admission/trust.ts'
import type { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { owned, reachOf, shieldOf, viaPortNetworksOf } from './agent-options.ts'

/** What depends on who may send, and by whom calls go out. */
export interface Followers {
  readonly carriers: CarrierDirectory
  readonly trust: Trust
  /** Undefined: there is no embedded one. */
  readonly agent: Pick<SipAgent, 'change'> | undefined
}

/** Part of the configuration that concerns senders. */
export type SendersConfig = Pick<Config, 'sip' | 'carriers' | 'project'>

/**
 * Has the SIP edge follow the directory: carriers and domain applications come and go while the gateway runs.
 * What comes back takes another configuration.
 */
export const followSenders = (
  config: SendersConfig,
  directory: Pick<Directory, 'onSenders'>,
  { carriers, trust, agent }: Followers,
): ((next: SendersConfig) => void) => {
  let present = config
  let reach: SipReach | undefined
  let senders: Senders = { domains: [], carriers: [] }
  const apply = (shieldChanged: boolean) => {
    const { sip } = present
    const all = { domains: senders.domains, carriers: [...owned(present), ...senders.carriers], sip }
    carriers.change(all.carriers)
    // The agent looks at every source anew, so it hears only of what changed.
    if (trust.change(all) || shieldChanged) agent?.change({ shield: shieldOf(sip, trust.networks) })
    const next = reachOf(sip, all)
    if (isDeepStrictEqual(reach, next)) return
    reach = next
    agent?.change({ reach })
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
