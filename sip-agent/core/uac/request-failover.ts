import type { SipResponse } from '../../message/message.ts'
import type { ClientFailure, InviteClientTransaction } from '../../transaction/invite-client.ts'
import type { ClientEntry, ClientUser } from '../../transaction/transactions.ts'
import type { ChosenBy, Flow } from '../../transport/types.ts'
import type { Context } from '../context.ts'
import { type MadeRequest, makeFailureAck } from '../requests.ts'
import { type FlowOrHop, isHop, openFlow } from './flow-or-hop.ts'
import type { TemporaryTrust } from './temporary-trust.ts'

const nothing = Buffer.alloc(0)

/** A request that is ready to be sent: the ways to be tried, best first, and how it reads on each of them. */
export interface PreparedRequest {
  readonly ways: readonly FlowOrHop[]
  /** Each call gives another branch; all else that identifies the request stays. */
  make(flow: Flow): MadeRequest
  /** True for a request of somebody else, whose responses carry more Vias than ours. */
  readonly isForwarded?: boolean
  /** Origin of the ways; default `us`. */
  readonly chosenBy?: ChosenBy
  /** Receives each address that the request is sent to. */
  readonly holds?: Pick<TemporaryTrust, 'add'>
}

/** Whom the answers to a request concern. */
export type FailoverUser = Omit<ClientUser, 'ack'>

/**
 * One request on its way to one of several places (RFC 3263 4.3). Where nothing can be sent to a place, where nothing at all comes
 * back from it, or where it answers 503 before anything else, the next one is tried, in a transaction of its own. Whoever sent
 * the request sees one request and one final response.
 */
export class RequestFailover {
  readonly #context: Context
  /** Given up with the final response: what it holds on to is no longer needed then. */
  #make: PreparedRequest['make'] | undefined
  readonly #forwards: boolean
  readonly #over503: boolean
  readonly #by: ChosenBy
  readonly #holds: PreparedRequest['holds']
  #left: readonly FlowOrHop[]
  #way: FlowOrHop | undefined
  #flow: Flow
  #made: MadeRequest
  #user: FailoverUser | undefined
  #side: ClientEntry | undefined
  /** Counts the places, so that an old one's answers are told from the present one's. */
  #turn = 0
  /** True once anything came back from the present place, and once more than 100 came. */
  #heard = false
  #rung = false

  /** Makes the request for its first place, without sending it. `over503` is false for a request that must stay where it is. */
  constructor(context: Context, prepared: PreparedRequest, over503: boolean) {
    this.#context = context
    this.#make = prepared.make
    this.#forwards = prepared.isForwarded === true
    this.#over503 = over503
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

  /** The request as it was sent last; without its bytes once there is a final response. */
  get made(): MadeRequest {
    return this.#made
  }

  /** The way that it took last. */
  get flow(): Flow {
    return this.#flow
  }

  /** True once anything came back from the place that it was sent to last: not before may it be cancelled (RFC 3261 9.1). */
  get heard(): boolean {
    return this.#heard
  }

  /** Sends the request. */
  start(user: FailoverUser): void {
    this.#user = user
    this.#send()
  }

  /** A new way to the place that it was sent to last; undefined where only the old one led there. */
  again(): Flow | undefined {
    return this.#way && isHop(this.#way) ? this.#open(this.#way) : undefined
  }

  /** No other place is tried any more. */
  stay(): void {
    this.#left = []
  }

  /** Ends an INVITE as if nothing had ever come. */
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
    this.#heard = false
    this.#side = this.#context.transactions.send(branch, method, bytes, this.#flow, {
      response: (response, flow, size) => {
        if (current()) this.#response(response, flow, size)
      },
      failed: (why) => {
        if (current()) this.#failed(why)
      },
      ack: (response) => makeFailureAck(this.#made, response),
      isForwarded: this.#forwards,
      ended: () => {
        if (current()) this.#user?.ended?.()
      },
    })
  }

  #response(response: SipResponse, flow: Flow, size: number): void {
    this.#heard = true
    if (response.status > 100) {
      if (response.status === 503 && this.#over503 && !this.#rung && this.#next()) return
      this.#rung = true
    }
    if (response.status >= 200) this.#settle()
    this.#user?.response(response, flow, size)
  }

  #failed(why: ClientFailure): void {
    if (this.#way && isHop(this.#way) && !this.#heard) this.#context.router.failed(this.#way)
    if (this.#heard || !this.#next()) this.#user?.failed(why)
  }

  /** The transaction lives on for half a minute, without what it could be made of anew. */
  #settle(): void {
    this.#left = []
    this.#make = undefined
    if (this.#made.bytes.length > 0) this.#made = { ...this.#made, bytes: nothing }
  }

  /** Goes on to the next place; false where there is none. */
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

/** The ways for a request of this size: what is too large for UDP goes over TCP first (RFC 3261 18.1.1). */
const fitting = (ways: readonly FlowOrHop[], bytes: number, context: Context): readonly FlowOrHop[] => {
  const hops = ways.filter(isHop)
  return hops.length < ways.length || hops.length === 0 ? ways : context.router.fit(hops, bytes)
}

/** Where the answers go nobody waits for. */
export const noopFailoverUser: FailoverUser = { response: () => {}, failed: () => {} }
