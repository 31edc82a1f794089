/** Interfaces that the calls need, implemented by other parts of the gateway. */
import type {
  DocumentRequest,
  FetchedDocument,
  HttpRequest,
  HttpResponse,
  StatusCallback,
} from '../../handlers/handler.ts'
import type {
  CallControl,
  CallInfo,
  Destination,
  QueuePosition,
  UserVariables,
} from '../../handlers/verbs.ts'
import type { AudioCodec } from '../../media/types.ts'
import type { Code } from '../core/errors/catalogue.ts'
import type { CallId, HandlerSpec, Party, Target } from '../model.ts'
import type { Call } from './call/call.ts'
import type { Leg } from './leg/leg.ts'
import type { ScopableControl } from './verbs/scopable-control.ts'

/** Requests to customers' servers; implemented by gateway/callbacks. */
export interface Documents {
  /**
   * Fetches a document with a request that is signed with the project's key; `signal` cancels it. Throws an
   * error that says what happened unless the status is 2xx.
   */
  document(request: DocumentRequest, projectId: string, signal?: AbortSignal): Promise<FetchedDocument>
  /** See `HandlerContext.request`. */
  request(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>
}

/** Callbacks to customers' servers; implemented by gateway/callbacks. */
export interface Callbacks {
  /** Delivers a callback in the background. Those of a call to one server keep their order. Never throws. */
  notify(from: { readonly projectId: string; readonly callId: string }, callback: StatusCallback): void
}

/** Host names of this gateway. */
export interface OwnHosts {
  /** See `HandlerContext.isOwnHost`. */
  isOwnHost(host: string, projectId: string): boolean
}

/** Request for an outbound leg. */
export interface OutboundRequest {
  readonly destination: Destination
  /** Project whose carriers it may use. */
  readonly projectId: string
  /** Call: group of its media ports, and id in the log. */
  readonly callId: CallId
  /** Call id of the branch; default {@link callId}. */
  readonly calleeId?: CallId
  /** First call of a chain of addresses; default {@link callId}. */
  readonly originId?: CallId
  /** Codec of the leg that it will be joined to: preferred in the offer. */
  readonly codec: AudioCodec
  /** Caller identity for the callee. */
  readonly from: Party
  /** Leg that the callee will be joined to. Absent until there is one. */
  readonly caller?: Leg
  /**
   * Max-Forwards of the INVITE; default 70. A bridged call uses that of its first leg, less one (RFC 7332).
   */
  readonly maxForwards?: number
  /** Diversion and History-Info of the caller's INVITE, for a carrier. */
  readonly forwarded?: readonly { readonly name: string; readonly value: string }[]
}

/** Factory of outbound legs of one kind. A leg starts in state `new`, and reports to its owner. */
export interface Outbound<T extends Target> {
  dial(target: T, request: OutboundRequest): Leg
}

/** Contacts of SIP endpoints. */
export interface Endpoints {
  /**
   * Returns the contacts of an endpoint, which ring together. Empty for an endpoint that is not registered.
   */
  contacts(endpointId: string): readonly Extract<Target, { kind: 'sip' }>[]
}

/** Factory of SIP legs. */
export type OutboundSip = Outbound<Extract<Target, { kind: 'sip' }>>
/** Factory of legs to subscribers. */
export type OutboundSubscriber = Outbound<Extract<Target, { kind: 'subscriber' }>>

/** Factory of legs to addresses with a handler. */
export type OutboundLocal = Outbound<Extract<Target, { kind: 'handler' }>>

/** Callers in queues, for a fork that calls them; implemented by the queues. */
export interface QueuedCallers {
  /**
   * Takes the caller who has waited longest, or waits for one. Resolves after the notice that the caller
   * hears before it is joined. Resolves with undefined if `signal` fires first. {@link QueuedCaller.release}
   * releases the caller.
   */
  take(
    queue: { readonly projectId: string; readonly name: string; readonly by: CallId },
    signal: AbortSignal,
  ): Promise<QueuedCaller | undefined>
}

/**
 * Caller who was taken from a queue. It goes on with its own document after the two have talked. A caller who
 * was not joined is the next one of the queue again.
 */
export interface QueuedCaller {
  /**
   * Call of the caller. Until {@link release} the consumer has the caller's audio, and listens to the call
   * ({@link Call.listen}).
   */
  readonly call: Call
  /** Verbs of the caller, and its place in the queue, for a {@link Destination.confirm}. */
  readonly control: ScopableControl
  readonly place: QueuePosition
  /** Fires when the call ends or leaves the queue. The consumer must part from it. */
  readonly over: AbortSignal
  /** Reports that the two are joined. Call it at most once. */
  join(): void
  /** Releases the caller. Must be called once, also if the two were never joined. */
  release(): void
}

/** New inbound leg. */
export interface Arrival {
  readonly leg: Leg
  /** Id from {@link newCallId}; also the group of the leg's media port. */
  readonly callId: CallId
  /** Branch of another call of this gateway whose far side this is. */
  readonly parentId?: CallId
  readonly projectId: string
  /** Handler of the call: that of a domain application, or of the address that a browser has dialed. */
  readonly plan:
    | { readonly kind: 'handler'; readonly handler: HandlerSpec }
    | { readonly kind: 'dial'; readonly to: string }
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

/** Realtime applications; implemented by gateway/rpc/realtime. */
export interface Applications {
  /**
   * Offers a call to the clients of its project that listen on the topic, one after the other. Resolves at
   * the end of the call. Throws a TrunklineError `no_application` if no client takes the call, which is not
   * answered then.
   */
  run(call: CallControl, topic: string): Promise<void>
}

/** Runs a handler on a call to the handler's end. `known`: facts about the call. */
export type Handle = (handler: HandlerSpec, known?: Pick<CallInfo, 'answeredBy'>) => Promise<void>

/** Call that the gateway makes. */
export interface Origination {
  readonly projectId: string
  /**
   * Steps as those of `connect`. The first callee who answers becomes the call's caller leg. Each needs a
   * `from`.
   */
  readonly steps: readonly (readonly Destination[])[]
  /** Default ring time of a destination; default 60 s. */
  readonly timeoutMs?: number
  readonly maxDurationMs?: number
  /** Called for each leg before anything happens on it. */
  readonly onLeg?: (leg: OriginatedLeg) => void
  /** Caller for the call's documents and its CDR; default the destination's `from`, which the callee sees. */
  readonly from?: string
  /** Further `envs` of the call's documents. */
  readonly variables?: Readonly<Record<string, string>>
  /**
   * Controls the call after its answer, by itself or by a handler (`handle`). The call ends when it resolves.
   */
  readonly run: (call: CallControl, handle: Handle) => Promise<void>
  /** Cancels the call while it rings. Has no effect after the answer. */
  readonly signal?: AbortSignal
}

/**
 * Leg of a call that the gateway makes. Its call id is that of {@link CallControl.info} if it answers first.
 */
export interface OriginatedLeg {
  readonly callId: string
  readonly destination: Destination
  readonly type: 'sip' | 'webrtc'
  /** Calls back in order; `ended` is the last state. */
  onState(listener: (state: 'ringing' | 'answered' | 'ended') => void): void
}

/** Maker of calls; implemented by `Calls`. */
export interface Originator {
  /**
   * Resolves with the call id of the callee who answers. Rejects with a TrunklineError (`busy`, `no_answer`,
   * …) if none does.
   */
  originate(origination: Origination): Promise<string>
}

/** Call or branch in progress, controlled by its id. */
export interface LiveCall {
  /**
   * Verbs beside those of the running handler. Absent for a branch that rings or that another call is
   * connected to.
   */
  readonly control?: CallControl
  readonly state: 'ringing' | 'answered'
  /**
   * Replaces the running handler, and cancels its pending verbs. The call ends with the new handler. Throws
   * `call_not_in_progress` before an answer, and for a branch that another call is connected to.
   */
  redirect(handler: HandlerSpec): void
  end(code: Code): void
}

/** Calls and branches in progress by id; implemented by `Calls`. */
export interface LiveCalls {
  live(projectId: string, callId: string): LiveCall | undefined
}
