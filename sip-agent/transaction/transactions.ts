import type { Clock } from '../clock.ts'
import { toLowerCase } from '../message/characters.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { detachedCopy } from '../message/text.ts'
import { magicCookie, type Via } from '../message/via.ts'
import type { Flow } from '../transport/types.ts'
import { ClientTransaction } from './client.ts'
import { type ClientFailure, InviteClientTransaction } from './invite-client.ts'
import { InviteServerTransaction } from './invite-server.ts'
import { ServerTransaction } from './server.ts'
import type { Timers } from './timers.ts'

/** A transaction of a request that was received. */
export interface ServerEntry {
  readonly isInvite: boolean
  readonly flow: Flow
  readonly key: string
  readonly machine: InviteServerTransaction | ServerTransaction
  /** To tag of its final response; undefined before. */
  tag: string | undefined
  /** True once an application has refused it and said that the sender is to blame. */
  isOffense: boolean
  /** Its sender has yet to prove that it is at its address; see `unconfirmedHeader`. */
  isPeerUnverified: boolean
}

/** How a request that was received is served. */
export interface ServeOptions {
  /** Makes its 100, which a request other than INVITE gets when its answer is late. */
  readonly trying?: () => Buffer
  /** Sends a response; default where the request came from. */
  readonly send?: (bytes: Buffer) => void
  /** True where the sender's address may be forged. Default false. */
  readonly isSpoofable?: boolean
  /** Bytes of the request. */
  readonly size?: number
}

/** What happens to a request that we sent. */
export interface ClientUser {
  response(response: SipResponse, flow: Flow, size: number): void
  failed(why: ClientFailure): void
  /** INVITE only: makes the ACK to a final response other than 2xx. */
  ack?(response: SipResponse): Buffer
  /** Nothing of the transaction is left. */
  ended?(): void
  /** True for a request of somebody else that we send on: its responses carry the Vias below ours. */
  readonly isForwarded?: boolean
}

/** A transaction of a request that was sent. */
export interface ClientEntry {
  readonly flow: Flow
  readonly machine: InviteClientTransaction | ClientTransaction
  readonly isForwarded: boolean
}

/** Stands between the parts of a key: no header value can hold it, so no crafted branch or host can look like other parts. */
const separator = '\n'

const defaultPorts: Readonly<Record<string, number>> = { TLS: 5061, WS: 80, WSS: 443 }

/** RFC 3261 18.1.1: a port that is left out is the usual one of the transport; host names have no case. */
const sentBy = ({ host, port, transport }: Via): string =>
  `${toLowerCase(host)}${separator}${port ?? defaultPorts[transport] ?? 5060}`

/**
 * RFC 3261 17.2.3: branch, sent-by and method; what an RFC 2543 element sends is matched by its other headers. The Call-ID is the same in all
 * that belongs together: who only guesses a branch (some senders count them) cancels nobody's call, and two calls of such senders
 * are not taken for one.
 */
const serverKey = (request: SipRequest, method = request.method): string => {
  const { via, callId, fromTag, seq, uri } = request
  const end = `${sentBy(via)}${separator}${method === 'ACK' ? 'INVITE' : method}`
  if (via.branch.startsWith(magicCookie)) return `${via.branch}${separator}${callId}${separator}${end}`
  return [callId, fromTag, seq, uri, via.branch, end].join(separator)
}

/** RFC 3261 8.2.2.2: what two copies of a forked request have in common. */
const mergeKey = ({ callId, fromTag, seq, method }: SipRequest): string =>
  `${callId}${separator}${fromTag}${separator}${seq}${separator}${method}`

/** All transactions of the agent. An entry leaves when its machine says that it has ended. */
export class Transactions {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #fault: (error: unknown) => void
  readonly #servers = new Map<string, ServerEntry>()
  readonly #clients = new Map<string, ClientEntry>()
  /** Those on connections, by connection: one that closes must not have all be looked through. */
  readonly #byFlow = new Map<Flow, Set<ClientEntry>>()
  /** Requests outside dialogs, to notice copies that took another path. */
  readonly #merges = new Map<string, string>()
  #bytes = 0

  /** `fault` is told of errors of whoever hears that nothing could be sent: an error in a socket's event would end the thread. */
  constructor(clock: Clock, timers: Timers, fault: (error: unknown) => void) {
    this.#clock = clock
    this.#timers = timers
    this.#fault = fault
  }

  /** Transactions of both sides. */
  get size(): number {
    return this.#servers.size + this.#clients.size
  }

  /** Connections on which a request waits for the end of its transaction. */
  get connections(): number {
    return this.#byFlow.size
  }

  /** Transactions of requests that were received. */
  get servers(): number {
    return this.#servers.size
  }

  /** Bytes of these requests: a response that is kept takes about as much as what it copies. */
  get bytes(): number {
    return this.#bytes
  }

  /** The transaction that a received request belongs to; for an ACK its INVITE's. */
  find(request: SipRequest): ServerEntry | undefined {
    return this.#servers.get(serverKey(request))
  }

  /** The INVITE that a CANCEL means (RFC 3261 9.2). */
  findCancelled(cancel: SipRequest): ServerEntry | undefined {
    return this.#servers.get(serverKey(cancel, 'INVITE'))
  }

  /** True where another copy of this request than that of `side` is being served (RFC 3261 8.2.2.2). */
  isMerged(request: SipRequest, side: ServerEntry): boolean {
    if (request.toTag !== '') return false
    const first = this.#merges.get(mergeKey(request))
    return first !== undefined && first !== side.key
  }

  /** Opens the transaction of a new request. */
  serve(request: SipRequest, flow: Flow, serving: ServeOptions = {}): ServerEntry {
    const { trying, send = (bytes) => flow.send(bytes), isSpoofable, size = 0 } = serving
    const key = detachedCopy(serverKey(request))
    const merge =
      request.toTag === '' && request.method !== 'CANCEL' ? detachedCopy(mergeKey(request)) : undefined
    const hooks = {
      isReliable: flow.isReliable,
      isSpoofable,
      isPeerUnverified: () => side.isPeerUnverified,
      send,
      ended: () => {
        this.#servers.delete(key)
        this.#bytes -= size
        if (merge !== undefined && this.#merges.get(merge) === key) this.#merges.delete(merge)
      },
    }
    const invite = request.method === 'INVITE'
    const machine = invite
      ? new InviteServerTransaction(this.#clock, this.#timers, hooks)
      : new ServerTransaction(this.#clock, this.#timers, hooks, trying)
    const side: ServerEntry = {
      isInvite: invite,
      flow,
      key,
      machine,
      tag: undefined,
      isOffense: false,
      isPeerUnverified: false,
    }
    this.#servers.set(key, side)
    this.#bytes += size
    if (merge !== undefined && !this.#merges.has(merge)) this.#merges.set(merge, key)
    return side
  }

  /** Sends a request in a transaction of its own. `branch` is that of its Via. */
  send(branch: string, method: string, bytes: Buffer, flow: Flow, user: ClientUser): ClientEntry {
    const key = `${branch}|${method}`
    const hooks = {
      isReliable: flow.isReliable,
      send: (out: Buffer) => flow.send(out, () => this.#failed(side)),
      response: user.response.bind(user),
      failed: user.failed.bind(user),
      ended: () => {
        this.#clients.delete(key)
        this.#leave(side)
        user.ended?.()
      },
    }
    const machine =
      method === 'INVITE'
        ? new InviteClientTransaction(this.#clock, this.#timers, {
            ...hooks,
            ack: (response) => user.ack?.(response) ?? Buffer.alloc(0),
          })
        : new ClientTransaction(this.#clock, this.#timers, hooks)
    const side: ClientEntry = { flow, machine, isForwarded: user.isForwarded === true }
    this.#clients.set(key, side)
    if (flow.isReliable) this.#byFlow.set(flow, (this.#byFlow.get(flow) ?? new Set()).add(side))
    machine.start(bytes)
    return side
  }

  /** Hands a response to its transaction; strays are dropped (RFC 6026 8.9). */
  receive(response: SipResponse, flow: Flow, size: number): boolean {
    const side = this.#clients.get(`${response.via.branch}|${response.seqMethod}`)
    // A response to a request of our own that carries more than our Via was not meant for us (RFC 3261 8.1.3.3).
    if (!side || (response.vias !== 1 && !side.isForwarded)) return false
    side.machine.receive(response, flow, size)
    return true
  }

  /** A connection is gone: what waits for a response on it has failed. */
  lost(flow: Flow): void {
    for (const side of [...(this.#byFlow.get(flow) ?? [])]) this.#failed(side)
  }

  #failed(side: ClientEntry): void {
    try {
      side.machine.transportFailed()
    } catch (error) {
      this.#fault(error)
    }
  }

  #leave(side: ClientEntry): void {
    const others = this.#byFlow.get(side.flow)
    others?.delete(side)
    if (others?.size === 0) this.#byFlow.delete(side.flow)
  }

  /** Drops everything without a word. */
  close(): void {
    for (const side of [...this.#servers.values()]) side.machine.stop()
    for (const side of [...this.#clients.values()]) side.machine.stop()
  }
}
