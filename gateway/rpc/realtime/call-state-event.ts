import type { EndReason } from '../../calling/operations/end-reasons.ts'
import type { WireDevice } from './wire-devices.ts'

/** States of a call. */
export type WireState = 'created' | 'ringing' | 'answered' | 'ending' | 'ended'

/** What an application is told of a leg. */
export interface LegEvent {
  readonly callId: string
  readonly state: WireState
  readonly device: WireDevice
  /** Of the dial or connect that made it; a leg without one came in. */
  readonly tag?: string
  readonly endReason?: EndReason
  /** In milliseconds since the epoch. */
  readonly startedAt?: number
  readonly endedAt?: number
}

/** Params of `calling.call.state`. The clients take an outbound leg only with `direction` and the `tag`. */
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
