import type { UserVariables } from '../../../handlers/verbs.ts'
import type { CallId, HandlerSpec } from '../../model.ts'
import type { Leg } from '../leg/leg.ts'

/** Plan of a call from outside: a handler of a domain application, or a dialed address. */
export type InboundPlan =
  | { readonly kind: 'handler'; readonly handler: HandlerSpec }
  | { readonly kind: 'dial'; readonly to: string }

/** New inbound leg. */
export interface Arrival {
  readonly leg: Leg
  /** Id from {@link newCallId}; also the group of the leg's media port. */
  readonly callId: CallId
  /** Branch of another call of this gateway; the leg is the far side of that branch. */
  readonly parentId?: CallId
  readonly projectId: string
  /** Handler of a domain application, the address that a browser has dialed, or the room of its token. */
  readonly plan: InboundPlan | { readonly kind: 'room'; readonly name: string }
  /** Headers of the INVITE: `X-…`, Diversion, History-Info, P-Asserted-Identity and Privacy. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Variables of a browser's call, within its limits. */
  readonly userVariables?: UserVariables
  /** Max-Forwards of the INVITE; absent for a browser. */
  readonly maxForwards?: number
  /** Carrier or endpoint of the caller, if known. */
  readonly carrier?: string
  readonly endpointId?: string
  /**
   * Called once when the call was rejected or its last leg has ended. After a transfer this can be long after
   * the end of `leg`.
   */
  readonly onOver?: () => void
  readonly sip?: { readonly callId: string; readonly domain: string; readonly sourceAddress: string }
}

/** Receiver of inbound legs; implemented by `Calls`. It may end a leg at once. */
export interface Arrivals {
  arrive(arrival: Arrival): void
}
