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

/** Server transaction of a received request. */
export interface ServerEntry {
  readonly isInvite: boolean
  readonly flow: Flow
  readonly key: string
  readonly machine: InviteServerTransaction | ServerTransaction
  /** To tag of its final response; undefined before. */
  tag: string | undefined
  /** Whether an application has rejected the request and marked it as an offence; see `offenseHeader`. */
  isOffense: boolean
  /** Whether the sender's address is unverified; see `unverifiedHeader`. */
  isPeerUnverified: boolean
}

/** Options of a server transaction. */
export interface ServeOptions {
  /** Builds the 100 for a request other than INVITE with a late response. */
  readonly trying?: () => Buffer
  /** Sends a response. Default: sends it to the source of the request. */
  readonly send?: (bytes: Buffer) => void
  /** Whether the sender's address may be spoofed. Default false. */
  readonly isSpoofable?: boolean
  /** Size of the request in bytes. */
  readonly size?: number
}

/** Listener of a client transaction. */
export interface ClientUser {
  response(response: SipResponse, flow: Flow, size: number): void
  failed(why: ClientFailure): void
  /** INVITE only: builds the ACK to a final response other than 2xx. */
  ack?(response: SipResponse): Buffer
  /** Called at the end of the transaction. */
  ended?(): void
  /** Whether the request is forwarded for another element: its responses carry further Vias. */
  readonly isForwarded?: boolean
}

/** Client transaction of a sent request. */
export interface ClientEntry {
  readonly flow: Flow
  readonly machine: InviteClientTransaction | ClientTransaction
  readonly isForwarded: boolean
}

/**
 * Separator in keys. No header value can contain it, so a crafted branch or host cannot imitate other fields.
 */
const separator = '\n'

const defaultPorts: Readonly<Record<string, number>> = { TLS: 5061, WS: 80, WSS: 443 }

/**
 * Returns the sent-by of a Via. A missing port is the default of the transport, and host names ignore case
 * (RFC 3261 18.1.1).
 */
const sentBy = ({ host, port, transport }: Via): string =>
  `${toLowerCase(host)}${separator}${port ?? defaultPorts[transport] ?? 5060}`

/**
 * Returns the key of a server transaction (RFC 3261 17.2.3): branch, sent-by and method. Requests of RFC 2543
 * elements are matched by other headers. The Call-ID is part of the key too, because some elements use
 * predictable branches, or the same one twice. So a sender that guesses a branch cannot cancel another
 * sender's call, and two calls with one branch stay separate.
 */
const serverKey = (request: SipRequest, method = request.method): string => {
  const { via, callId, fromTag, seq, uri } = request
  const end = `${sentBy(via)}${separator}${method === 'ACK' ? 'INVITE' : method}`
  if (via.branch.startsWith(magicCookie)) return `${via.branch}${separator}${callId}${separator}${end}`
  return [callId, fromTag, seq, uri, via.branch, end].join(separator)
}

/** Returns the values that two copies of a forked request share (RFC 3261 8.2.2.2). */
const mergeKey = ({ callId, fromTag, seq, method }: SipRequest): string =>
  `${callId}${separator}${fromTag}${separator}${seq}${separator}${method}`

/** All transactions of the agent. An entry is removed when its state machine ends. */
export class Transactions {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #fault: (error: unknown) => void
  readonly #servers = new Map<string, ServerEntry>()
  readonly #clients = new Map<string, ClientEntry>()
  /**
   * Transactions on connections, by connection, so that the end of a connection causes no search through all
   * transactions.
   */
  readonly #byFlow = new Map<Flow, Set<ClientEntry>>()
  /** Requests outside dialogs, for recognising copies that arrive over another path. */
  readonly #merges = new Map<string, string>()
  #bytes = 0

  /**
   * `fault` receives errors of the callbacks for failed sends. They run in an event of a socket, where an
   * uncaught error would end the thread.
   */
  constructor(clock: Clock, timers: Timers, fault: (error: unknown) => void) {
    this.#clock = clock
    this.#timers = timers
    this.#fault = fault
  }

  /** Number of transactions of both sides. */
  get size(): number {
    return this.#servers.size + this.#clients.size
  }

  /** Number of connections on which a request waits for the end of its transaction. */
  get connections(): number {
    return this.#byFlow.size
  }

  /** Number of server transactions. */
  get servers(): number {
    return this.#servers.size
  }

  /**
   * Total size in bytes of the requests of all server transactions; estimates the memory of the kept
   * responses, which copy values of their requests.
   */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns the transaction of a received request; for an ACK, the transaction of its INVITE. */
  find(request: SipRequest): ServerEntry | undefined {
    return this.#servers.get(serverKey(request))
  }

  /** Returns the INVITE that a CANCEL names (RFC 3261 9.2). */
  findCancelled(cancel: SipRequest): ServerEntry | undefined {
    return this.#servers.get(serverKey(cancel, 'INVITE'))
  }

  /** Returns whether another copy of the request of `side` is being served (RFC 3261 8.2.2.2). */
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

  /** Sends a request in a new transaction. `branch` is that of its Via. */
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

  /** Hands a response to its transaction. Returns false without one (RFC 6026 8.9). */
  receive(response: SipResponse, flow: Flow, size: number): boolean {
    const side = this.#clients.get(`${response.via.branch}|${response.seqMethod}`)
    // A response with further Vias does not belong to a request that the agent itself created (RFC 3261
    // 8.1.3.3).
    if (!side || (response.vias !== 1 && !side.isForwarded)) return false
    side.machine.receive(response, flow, size)
    return true
  }

  /** Fails the requests that wait for a response on a lost connection. */
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

  /** Drops all transactions. */
  close(): void {
    for (const side of [...this.#servers.values()]) side.machine.stop()
    for (const side of [...this.#clients.values()]) side.machine.stop()
  }
}
