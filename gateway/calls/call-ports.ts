/** What the calls need of the rest of the gateway, in their own words; `app.ts` passes objects that fit. */
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
   * Fetches a document with a request that is signed with the project's key; `signal` cancels it. Throws an error that
   * says what happened unless the status is 2xx.
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

/** The names of this gateway. */
export interface OwnHosts {
  /** See `HandlerContext.isOwnHost`. */
  isOwnHost(host: string, projectId: string): boolean
}

/** An outbound leg that is wanted. */
export interface OutboundRequest {
  readonly destination: Destination
  /** Whose carriers it may go by. */
  readonly projectId: string
  /** The call: group of its media ports, and what logs name. */
  readonly callId: CallId
  /** The called leg's own call id; default {@link callId}. */
  readonly calleeId?: CallId
  /** The first call, where this one runs the handler of an address that was called for it; default {@link callId}. */
  readonly originId?: CallId
  /** Codec of the leg that this one will be joined to: preferred in the offer. */
  readonly codec: AudioCodec
  /** Caller, as the other side is to see it. */
  readonly from: Party
  /** Who hears, and sees, whoever answers; absent: nobody yet. */
  readonly caller?: Leg
  /** Max-Forwards of the INVITE; default 70. A bridged call carries that of its first leg on, one less (RFC 7332). */
  readonly maxForwards?: number
  /** Headers of the caller's INVITE that say who sent the call to us: Diversion and History-Info. A carrier is told them. */
  readonly forwarded?: readonly { readonly name: string; readonly value: string }[]
}

/** Makes outbound legs of one kind. The leg comes back in state `new`; everything after that is told to its owner. */
export interface Outbound<T extends Target> {
  dial(target: T, request: OutboundRequest): Leg
}

/** Where SIP endpoints are registered. */
export interface Endpoints {
  /** The contacts of an endpoint, to be rung together; none: it is not online. */
  contacts(endpointId: string): readonly Extract<Target, { kind: 'sip' }>[]
}

/** How SIP legs are placed. */
export type OutboundSip = Outbound<Extract<Target, { kind: 'sip' }>>
/** How legs to a subscriber are placed. */
export type OutboundSubscriber = Outbound<Extract<Target, { kind: 'subscriber' }>>

/** Places legs to addresses with a handler. */
export type OutboundLocal = Outbound<Extract<Target, { kind: 'handler' }>>

/** Who waits in queues, as they are called; the queues themselves implement it. */
export interface QueuedCallers {
  /**
   * Takes the caller who has waited longest, and waits for one to arrive where there is none; what has to be told to that caller before it is
   * joined is over when it resolves. Undefined where `signal` fires first. The caller is released again by {@link QueuedCaller.release}.
   */
  take(
    queue: { readonly projectId: string; readonly name: string; readonly by: CallId },
    signal: AbortSignal,
  ): Promise<QueuedCaller | undefined>
}

/** A caller who was taken out of a queue, and goes on with its own document after the two were together; else it waits on, as the next one. */
export interface QueuedCaller {
  /** Its call. Who took it joins the audio of the caller's leg, and listens to the call ({@link Call.listen}), until it releases it. */
  readonly call: Call
  /** Its verbs, and the place that it had, for a {@link Destination.confirm}. */
  readonly control: ScopableControl
  readonly place: QueuePosition
  /** Fires when the call is over, or does something else: whoever took it has to part from it. */
  readonly over: AbortSignal
  /** The two are together from now on; called at most once. */
  join(): void
  /** The two are parted: called once, also where they never were together, or the call is over. */
  release(): void
}

/** A new inbound leg for the calls to take over. */
export interface Arrival {
  readonly leg: Leg
  /** Made with {@link newCallId}; the leg's media port is in the group of this name. */
  readonly callId: CallId
  /** The called leg of another call of this gateway whose far side this is. */
  readonly parentId?: CallId
  readonly projectId: string
  /** What to do with it: a domain application's handler, or the address that a browser dialled. */
  readonly plan:
    | { readonly kind: 'handler'; readonly handler: HandlerSpec }
    | { readonly kind: 'dial'; readonly to: string }
  /** `X-…` of the INVITE, and Diversion, History-Info, P-Asserted-Identity and Privacy. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Variables that a browser dialled with, within its limits. */
  readonly userVariables?: UserVariables
  /** Max-Forwards of the INVITE, where it came by SIP. */
  readonly maxForwards?: number
  /** The carrier or the endpoint that it came from, where one is known. */
  readonly carrier?: string
  readonly endpointId?: string
  /**
   * Called once when nothing is left of the call: it was refused, or its last leg is gone. By a transfer that can be long after the end of
   * `leg`.
   */
  readonly onOver?: () => void
  readonly sip?: { readonly callId: string; readonly domain: string; readonly sourceAddress: string }
}

/** Takes inbound legs; implemented by `Calls`. The leg may be refused at once: `leg.end` is called then. */
export interface Arrivals {
  arrive(arrival: Arrival): void
}

/** Realtime applications; implemented by gateway/rpc/realtime. */
export interface Applications {
  /**
   * Offers a call to the clients of its project that listen on the topic, one after the other, and resolves when the call is over. Throws a
   * TrunklineError `no_application` when nobody listens, or nobody took the call: it is not answered then.
   */
  run(call: CallControl, topic: string): Promise<void>
}

/** Lets a handler drive a call, to the handler's end; `known`: what is known of the call by now. */
export type Handle = (handler: HandlerSpec, known?: Pick<CallInfo, 'answeredBy'>) => Promise<void>

/** A call that the gateway makes by itself. */
export interface Origination {
  readonly projectId: string
  /** Tried as those of `connect`; the first who answers is the call's caller leg. `from` is required in each. */
  readonly steps: readonly (readonly Destination[])[]
  /** Ring time of a destination that has none of its own; default 60 s. */
  readonly timeoutMs?: number
  readonly maxDurationMs?: number
  /** Told of each leg that is made, before anything happens on it. */
  readonly onLeg?: (leg: OriginatedLeg) => void
  /** Who calls, as the call's documents and its record have it; default the destination's `from`, which is shown to who is called. */
  readonly from?: string
  /** Further `envs` of the call's documents. */
  readonly variables?: Readonly<Record<string, string>>
  /** Drives the call after its answer, or lets a handler do so (`handle`); the call is over when it resolves. */
  readonly run: (call: CallControl, handle: Handle) => Promise<void>
  /** Gives up while it rings; nothing once it is answered. */
  readonly signal?: AbortSignal
}

/** A leg of a call that is being made; its call id is that of {@link CallControl.info} if it answers first. */
export interface OriginatedLeg {
  readonly callId: string
  readonly destination: Destination
  readonly type: 'sip' | 'webrtc'
  /** In order, `ended` once and last. */
  onState(listener: (state: 'ringing' | 'answered' | 'ended') => void): void
}

/** Makes calls; implemented by `Calls`. */
export interface Originator {
  /** Resolves with the call id of who answered, when it did; rejects with a TrunklineError (`busy`, `no_answer`, …) when nobody does. */
  originate(origination: Origination): Promise<string>
}

/** A call in progress, or a leg that is called for one, as who holds its id drives it. */
export interface LiveCall {
  /** Its verbs, besides those of what runs; absent for a leg that rings, or that another call is connected to. */
  readonly control?: CallControl
  readonly state: 'ringing' | 'answered'
  /**
   * What runs is given up with its pending verbs, and this runs in its place; the call is over when it ends. Throws `call_not_in_progress`
   * before an answer, and for a leg that another call is connected to.
   */
  redirect(handler: HandlerSpec): void
  end(code: Code): void
}

/** Finds calls in progress, and legs that are called for them, by their ids; implemented by `Calls`. */
export interface LiveCalls {
  live(projectId: string, callId: string): LiveCall | undefined
}
