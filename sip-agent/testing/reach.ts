import type { Clock } from '../clock.ts'
import { Reach } from '../reach/reach.ts'
import type { SipReach, SipReachCarrier } from '../reach/reach-settings.ts'
import { FakeDns, type Zone } from './dns.ts'

/** Rules without settings: every destination is permitted. */
export const openReach = (clock: Clock): Reach => new Reach({ dns: new FakeDns({}), clock, fault: () => {} })

/**
 * A carrier of the configuration that knows the gateway by its address, with the changes that a test needs.
 */
export const reachCarrier = (changes: Partial<SipReachCarrier> = {}): SipReachCarrier => ({
  name: 'acme',
  project: 'demo',
  isGuarded: false,
  isByAddress: true,
  targets: ['sip:62.1.2.3:5060'],
  networks: [],
  ...changes,
})

/** Rules with settings, and the name server for their queries. */
export const reachOn = (clock: Clock, settings: SipReach, zone: Zone = {}) => {
  const dns = new FakeDns(zone)
  const faults: unknown[] = []
  const reach = new Reach({ dns, clock, fault: (error) => faults.push(error), settings })
  return { dns, reach, faults }
}
