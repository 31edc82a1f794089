import type { Destination } from '../../../handlers/verbs.ts'
import type { AudioCodec } from '../../../media/types.ts'
import type { CallId, Party, Target } from '../../model.ts'
import type { Leg } from './leg.ts'

/** Request for an outbound leg. */
export interface OutboundRequest {
  readonly destination: Destination
  /** Project whose carriers the leg may use. */
  readonly projectId: string
  /** Call: group of its media ports, and id in the log. */
  readonly callId: CallId
  /** Call id of the branch; default {@link callId}. */
  readonly calleeId?: CallId
  /** First call of a chain of addresses; default {@link callId}. */
  readonly originId?: CallId
  /** Codec of the leg that the new leg will be joined to; preferred in the offer. */
  readonly codec: AudioCodec
  /** Caller identity for the callee. */
  readonly from: Party
  /** Leg that the callee will be joined to; absent until that leg exists. */
  readonly caller?: Leg
  /** Leg of the party that {@link from} names; default {@link caller}. */
  readonly inviter?: Leg
  /** Name of {@link caller} for the callee, if {@link inviter} is another party; default the caller's own. */
  readonly callerName?: Party
  /**
   * Max-Forwards of the INVITE; default 70. A bridged call uses the value of its first leg, minus one (RFC
   * 7332).
   */
  readonly maxForwards?: number
  /** Diversion and History-Info of the caller's INVITE, for a carrier. */
  readonly forwarded?: readonly { readonly name: string; readonly value: string }[]
}

/** Factory of outbound legs of one kind. A leg starts in state `new`, and reports to its owner. */
export interface Outbound<T extends Target> {
  dial(target: T, request: OutboundRequest): Leg
}

/** Factory of SIP legs. */
export type OutboundSip = Outbound<Extract<Target, { kind: 'sip' }>>

/** Factory of legs to subscribers. */
export type OutboundSubscriber = Outbound<Extract<Target, { kind: 'subscriber' }>>

/** Factory of legs to addresses with a handler. */
export type OutboundLocal = Outbound<Extract<Target, { kind: 'handler' }>>

/** Contacts of SIP endpoints. */
export interface Endpoints {
  /**
   * Returns the contacts of an endpoint, which ring together. Empty for an endpoint that is not registered.
   */
  contacts(endpointId: string): readonly Extract<Target, { kind: 'sip' }>[]
}
