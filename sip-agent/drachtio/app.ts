import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import type { Endpoint } from '../transport/types.ts'
import { makeFrame, timeOfDay } from './frames.ts'

/** SIP message for the application. */
export interface Delivery {
  readonly source: 'network' | 'application'
  /** Size of the message on the network in bytes; 0 for a message of the agent. */
  readonly size: number
  /** Source of the message; without an address for a message of the agent. */
  readonly from: { readonly protocol: string; readonly address: string; readonly port: number }
  readonly txnId: string
  /** Empty outside dialogs. */
  readonly dialogId: string
  /** Receiving socket of a new request; absent for other messages. */
  readonly local?: Endpoint
  readonly message: Buffer
}

/** Members of a socket that {@link App} uses. */
export type AppSocket = Pick<
  Socket,
  'destroyed' | 'writable' | 'writableLength' | 'write' | 'cork' | 'uncork' | 'destroy' | 'destroySoon'
>

/** Connection of one application. */
export class App {
  readonly #socket: AppSocket
  readonly #clock: Clock
  readonly #maxBacklog: number
  readonly #isDedicated: boolean
  /** Methods that the application routes, in lower case. */
  readonly routes = new Set<string>()
  isAuthenticated = false
  #isGathering = false

  /**
   * `maxBacklog`: maximum number of unread bytes. `dedicated`: the agent opened the connection, for one
   * request.
   */
  constructor(
    socket: AppSocket,
    clock: Clock,
    { maxBacklog, dedicated }: { maxBacklog: number; dedicated: boolean },
  ) {
    this.#socket = socket
    this.#clock = clock
    this.#maxBacklog = maxBacklog
    this.#isDedicated = dedicated
  }

  /** Whether the socket can send. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  /**
   * Whether the backlog has reached a quarter of its maximum. A busy application gets no new requests.
   * Otherwise a flood of requests could fill the backlog, which closes the connection and ends all calls of
   * the application.
   */
  get isBusy(): boolean {
    return this.#socket.writableLength > this.#maxBacklog / 4
  }

  /** Sends `OK` with fields, for frames without a SIP message. */
  ok(msgId: string, ...fields: string[]): void {
    this.#write(['response', msgId, 'OK', ...fields])
  }

  /** Rejects a frame; the connection stays. */
  reject(msgId: string, text: string): void {
    this.#write(['response', msgId, 'NOK', text])
  }

  /** Rejects a frame that violates the protocol, and closes the connection. */
  rejectAndClose(msgId: string, text: string): void {
    this.#write(['response', msgId, 'NO', text])
    this.#socket.destroySoon()
  }

  /** Closes the connection at once. */
  drop(): void {
    this.#socket.destroy()
  }

  /** Closes a dedicated connection whose request has ended. */
  closeIfDedicated(): void {
    if (this.#isDedicated) this.#socket.destroy()
  }

  /** Answers a request frame with the request as it was sent. */
  requestSent(msgId: string, local: Endpoint, txnId: string, message: Buffer): void {
    const fields = ['response', msgId, ...this.#sent(local, message), txnId, 'Msg sent:', '']
    this.#write(fields, message)
  }

  /** Answers a response frame with the response as it was sent. */
  responseSent(msgId: string, remote: Endpoint, txnId: string, dialogId: string, message: Buffer): void {
    this.#write(
      ['response', msgId, ...this.#sent(remote, message), txnId, dialogId, '', 'Msg sent:', ''],
      message,
    )
  }

  /** Reports a final response to a request that is proxied for the application. */
  proxyProgress(msgId: string, from: Endpoint, message: Buffer): void {
    const { protocol, address, port } = from
    const where = [String(message.length), protocol, address, String(port), timeOfDay(this.#clock.now())]
    this.#write(['response', msgId, 'OK', 'network', ...where, '', '', 'continue'], message)
  }

  /** Delivers a message of the network, or of the agent. */
  deliver(delivery: Delivery): void {
    const { source, size, from, txnId, dialogId, local, message } = delivery
    const fields = ['sip', source, String(size), from.protocol, from.address, String(from.port)]
    fields.push(timeOfDay(this.#clock.now()), txnId, dialogId)
    if (local) fields.push(local.address, String(local.port))
    this.#write([...fields, ''], message)
  }

  /** Sends a call record; `verb` is `cdr:attempt`, `cdr:start` or `cdr:stop`. */
  record(verb: string, source: string, detail: string | undefined, message: Buffer): void {
    const fields = [verb, source, timeOfDay(this.#clock.now())]
    this.#write(detail === undefined ? fields : [...fields, detail], message)
  }

  #sent(where: Endpoint, message: Buffer): string[] {
    const time = timeOfDay(this.#clock.now())
    const { protocol, address, port } = where
    return ['OK', 'application', String(message.length), protocol, address, String(port), time]
  }

  /**
   * Gathers all writes of one turn of the event loop into one system call: at a high rate, system calls are
   * the largest cost.
   */
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    this.#socket.cork()
    setImmediate(() => {
      this.#isGathering = false
      this.#socket.uncork()
    })
  }

  #write(fields: string[], message?: Buffer): void {
    if (!this.isOpen) return
    this.#gather()
    this.#socket.write(makeFrame(`${randomUUID()}|${fields.join('|')}`, message))
    // An application that does not read must not take all memory. Its calls end as after any lost connection.
    if (this.#socket.writableLength > this.#maxBacklog) this.#socket.destroy()
  }
}
