import { farEndHeader } from '../far-end-header.ts'
import type { Headers } from '../srf.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierTarget } from './carrier-target.ts'
import type { DialGuard } from './dial-guard.ts'

/** Says which hosts may be reached for customers. */
export type HostGuard = Pick<DialGuard, 'objection'>

/**
 * What is asked before something is sent to a target: nothing, but where a customer made the carrier, for
 * whom we are not to reach what is private to us. Spread into an `OutsideRequest`.
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
