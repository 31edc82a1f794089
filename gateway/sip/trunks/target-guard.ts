import { farEndHeader } from '../far-end-header.ts'
import type { Headers } from '../srf.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierTarget } from './carrier-target.ts'
import type { DialGuard } from './dial-guard.ts'

/** Guard of the hosts that customers may reach. */
export type HostGuard = Pick<DialGuard, 'objection'>

/**
 * Returns the check before a request to a target, which only carriers made by a customer need. Spread into an
 * `OutOfDialogRequest`.
 */
export const targetObjection = (
  { config }: Carrier,
  { uri }: CarrierTarget,
  guard: HostGuard | undefined,
): { readonly objection?: () => Promise<string | undefined> } =>
  config.guarded && guard ? { objection: () => guard.objection(uri) } : {}

/** Header that lets the embedded agent judge the addresses of a customer's carrier when it uses them. */
export const farEndOfCarrier = ({ config }: Carrier, marks: boolean | undefined): Headers =>
  config.guarded
    ? farEndHeader({ kind: 'carrier', name: config.name }, { hasPrivateHeaders: marks === true })
    : {}
