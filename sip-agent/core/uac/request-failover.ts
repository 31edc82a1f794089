import type { SipResponse } from '../../message/message.ts'
import type { ClientFailure, InviteClientTransaction } from '../../transaction/invite-client.ts'
import type { ClientEntry, ClientUser } from '../../transaction/transactions.ts'
import type { ChosenBy, Flow } from '../../transport/types.ts'
import type { Context } from '../context.ts'
import { type MadeRequest, makeFailureAck } from '../requests.ts'
import { type FlowOrHop, isHop, openFlow } from './flow-or-hop.ts'
import type { TemporaryTrust } from './temporary-trust.ts'

const nothing = Buffer.alloc(0)

/** Request that is ready to be sent: its possible paths, best first, and the function that builds it. */
export interface PreparedRequest {
  readonly ways: readonly FlowOrHop[]
  /** Builds the request for a flow. Each call uses a new Via branch; the other identifiers stay the same. */
  make(flow: Flow): MadeRequest
  /** Whether the request is forwarded for another element, so that its responses carry further Vias. */
  readonly isForwarded?: boolean
  /** Party that chose the paths; default `us`. */
  readonly chosenBy?: ChosenBy
  /** Receives each address that the request is sent to. */
  readonly holds?: Pick<TemporaryTrust, 'add'>
}

/** Listener for the responses to a request. */
export type FailoverUser = Omit<ClientUser, 'ack'>

/**
 * Sends one request to one of several hops (RFC 3263 4.3). The next hop is tried, in a new transaction, after
 * a failure to send, a timeout, or (with `canSkip503`) a 503 as the first response. The sender sees one
 * request and one final response.
 */
export class RequestFailover {
  readonly #context: Context
  /** Set to undefined with the final response, to release everything that the function references. */
  #make: PreparedRequest['make'] | undefined
  readonly #isForwarded: boolean
  readonly #canSkip503: boolean
  readonly #by: ChosenBy
  readonly #holds: PreparedRequest['holds']
  #left: readonly FlowOrHop[]
  #way: FlowOrHop | undefined
  #flow: Flow
  #made: MadeRequest
  #user: FailoverUser | undefined
  #side: ClientEntry | undefined
  /**
   * Number of the current attempt. It distinguishes responses of the current hop from responses of earlier
   * hops.
   */
  #turn = 0
  /** Whether any response arrived from the current hop. */
  #hasResponse = false
  /** Whether the current hop sent more than a 100. */
  #hasProgress = false

  /**
   * Builds the request for its first hop, without sending it. `canSkip503`: whether the next hop is tried
   * after a 503; default false.
   */
  constructor(context: Context, prepared: PreparedRequest, options: { readonly canSkip503?: boolean } = {}) {
    this.#context = context
    this.#make = prepared.make
    this.#isForwarded = prepared.isForwarded === true
    this.#canSkip503 = options.canSkip503 === true
    this.#by = prepared.chosenBy ?? 'us'
    this.#holds = prepared.holds
    const first = this.#open(prepared.ways[0])
    const made = prepared.make(first)
    const ways = fitting(prepared.ways, made.bytes.length, context)
    const same = ways[0] === prepared.ways[0]
    this.#way = ways[0]
    this.#left = ways.slice(1)
    this.#flow = same ? first : this.#open(ways[0])
    this.#made = same ? made : prepared.make(this.#flow)
  }

  /** The request as last sent; without its bytes after the final response. */
  get made(): MadeRequest {
    return this.#made
  }

  /** The flow of the last attempt. */
  get flow(): Flow {
    return this.#flow
  }

  /**
   * Whether a response has arrived from the current hop. Without a response, the request must not be
   * cancelled (RFC 3261 9.1).
   */
  get heard(): boolean {
    return this.#hasResponse
  }

  /** Sends the request. */
  start(user: FailoverUser): void {
    this.#user = user
    this.#send()
  }

  /**
   * Opens a new flow to the current hop. Returns undefined if the path was an existing flow, which cannot be
   * opened again.
   */
  again(): Flow | undefined {
    return this.#way && isHop(this.#way) ? this.#open(this.#way) : undefined
  }

  /** Prevents failover to further hops. */
  stay(): void {
    this.#left = []
  }

  /** Ends an INVITE as if no response had arrived. */
  giveUp(): void {
    this.stay()
    const machine = this.#side?.machine as InviteClientTransaction | undefined
    machine?.giveUp()
  }

  #open(way: FlowOrHop | undefined): Flow {
    const flow = openFlow(way, this.#context, this.#by)
    this.#holds?.add(flow.remote.address)
    return flow
  }

  #send(): void {
    const { branch, method, bytes } = this.#made
    const turn = ++this.#turn
    const current = () => this.#turn === turn
    this.#hasResponse = false
    this.#side = this.#context.transactions.send(branch, method, bytes, this.#flow, {
      response: (response, flow, size) => {
        if (current()) this.#response(response, flow, size)
      },
      failed: (why) => {
        if (current()) this.#failed(why)
      },
      ack: (response) => makeFailureAck(this.#made, response),
      isForwarded: this.#isForwarded,
      ended: () => {
        if (current()) this.#user?.ended?.()
      },
    })
  }

  #response(response: SipResponse, flow: Flow, size: number): void {
    this.#hasResponse = true
    if (response.status > 100) {
      if (response.status === 503 && this.#canSkip503 && !this.#hasProgress && this.#next()) return
      this.#hasProgress = true
    }
    if (response.status >= 200) this.#settle()
    this.#user?.response(response, flow, size)
  }

  #failed(why: ClientFailure): void {
    if (this.#way && isHop(this.#way) && !this.#hasResponse) this.#context.router.failed(this.#way)
    if (this.#hasResponse || !this.#next()) this.#user?.failed(why)
  }

  /** Releases the data for further attempts, because the transaction itself lives on for half a minute. */
  #settle(): void {
    this.#left = []
    this.#make = undefined
    if (this.#made.bytes.length > 0) this.#made = { ...this.#made, bytes: nothing }
  }

  /** Tries the next hop. Returns false after the last one. */
  #next(): boolean {
    const [way, ...left] = this.#left
    if (!way || !this.#make) return false
    this.#way = way
    this.#left = left
    this.#flow = this.#open(way)
    this.#made = this.#make(this.#flow)
    this.#send()
    return true
  }
}

/**
 * Returns the paths for a request with `bytes` bytes. A request that is too large for UDP is sent over TCP
 * first (RFC 3261 18.1.1).
 */
const fitting = (ways: readonly FlowOrHop[], bytes: number, context: Context): readonly FlowOrHop[] => {
  const hops = ways.filter(isHop)
  return hops.length < ways.length || hops.length === 0 ? ways : context.router.fit(hops, bytes)
}

/** Listener that ignores all responses. */
export const noopFailoverUser: FailoverUser = { response: () => {}, failed: () => {} }
