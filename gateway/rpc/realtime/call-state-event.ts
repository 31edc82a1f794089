import type { EndReason } from '../../calling/operations/end-reasons.ts'
import type { WireDevice } from './wire-devices.ts'

/** States of a call. */
export type WireState = 'created' | 'ringing' | 'answered' | 'ending' | 'ended'

/** State of a leg, as reported to an application. */
export interface LegEvent {
  readonly callId: string
  readonly state: WireState
  readonly device: WireDevice
  /** Tag of the dial or connect; undefined for an inbound leg. */
  readonly tag?: string
  readonly endReason?: EndReason
  /** Milliseconds since the Unix epoch. */
  readonly startedAt?: number
  readonly endedAt?: number
}

/**
 * Returns the params of `calling.call.state`. Clients accept an outbound leg only with `direction` and `tag`.
 */
export const callState = (nodeId: string, leg: LegEvent) => ({
  call_id: leg.callId,
  node_id: nodeId,
  segment_id: leg.callId,
  ...(leg.tag !== undefined && { tag: leg.tag }),
  call_state: leg.state,
  direction: leg.tag === undefined ? 'inbound' : 'outbound',
  device: leg.device,
  ...(leg.endReason && { end_reason: leg.endReason }),
  ...(leg.startedAt !== undefined && { start_time: leg.startedAt }),
  ...(leg.endedAt !== undefined && { end_time: leg.endedAt }),
})
