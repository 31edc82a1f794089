import { isDeepStrictEqual } from 'node:util'
import type { SipAgent, SipReach } from '@trunkline/sip-agent'
import type { Config } from '../../config/types.ts'
import type { Directory } from '../directory/directory.ts'
import type { Senders } from '../directory/model/callers.ts'
import type { Trust } from '../sip/admission/trust.ts'
import type { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { owned, reachOf, shieldOf, viaPortNetworksOf } from './agent-options.ts'

/** Components that depend on the permitted senders and on the carriers. */
export interface SenderDeps {
  readonly carriers: CarrierDirectory
  readonly trust: Trust
  /** Embedded SIP agent; undefined if the configuration names a drachtio-server. */
  readonly agent: Pick<SipAgent, 'change'> | undefined
}

/** Part of the configuration that concerns senders. */
export type SendersConfig = Pick<Config, 'sip' | 'carriers' | 'project'>

/**
 * Keeps the SIP edge up to date with the directory, whose carriers and domain applications change while the
 * gateway runs. Returns a function that applies another configuration.
 */
export const followSenders = (
  config: SendersConfig,
  directory: Pick<Directory, 'onSenders'>,
  { carriers, trust, agent }: SenderDeps,
): ((next: SendersConfig) => void) => {
  let present = config
  let reach: SipReach | undefined
  let senders: Senders = { domains: [], carriers: [] }
  const apply = (shieldChanged: boolean) => {
    const { sip } = present
    const all = { domains: senders.domains, carriers: [...owned(present), ...senders.carriers], sip }
    carriers.change(all.carriers)
    // Unchanged rules are not sent, because a change makes the agent check every source again.
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
