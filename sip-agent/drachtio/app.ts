import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import type { Endpoint } from '../transport/types.ts'
import { makeFrame, timeOfDay } from './frames.ts'

/** One SIP message on its way to the application. */
export interface Delivery {
  readonly source: 'network' | 'application'
  /** Size of the message on the network; 0 for one that the agent made. */
  readonly size: number
  /** Where it came from; without an address for what the agent made itself. */
  readonly from: { readonly protocol: string; readonly address: string; readonly port: number }
  readonly txnId: string
  /** Empty outside dialogs. */
  readonly dialogId: string
  /** The receiving socket, given with new requests only. */
  readonly local?: Endpoint
  readonly message: Buffer
}

/** What of a socket is needed to speak to an application. */
export type AppSocket = Pick<
  Socket,
  'destroyed' | 'writable' | 'writableLength' | 'write' | 'cork' | 'uncork' | 'destroy' | 'destroySoon'
>

/** The connection of one application, and what can be said on it. */
export class App {
  readonly #socket: AppSocket
  readonly #clock: Clock
  readonly #maxBacklog: number
  readonly #dedicated: boolean
  /** The requests that it wants, lower-case method names. */
  readonly routes = new Set<string>()
  isAuthenticated = false
  #gathering = false

  /**
   * `maxBacklog`: bytes that may wait for an application that does not read. `dedicated`: the agent connected to it, for one request.
   */
  constructor(
    socket: AppSocket,
    clock: Clock,
    { maxBacklog, dedicated }: { maxBacklog: number; dedicated: boolean },
  ) {
    this.#socket = socket
    this.#clock = clock
    this.#maxBacklog = maxBacklog
    this.#dedicated = dedicated
  }

  /** True while something can be sent. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  /**
   * True while a quarter of what may wait for it does. It is given no new requests then: what anybody may send must not grow to where
   * the application is cut off, and all its calls with it.
   */
  get isBusy(): boolean {
    return this.#socket.writableLength > this.#maxBacklog / 4
  }

  /** `OK` with fields, for frames that carry no SIP message. */
  ok(msgId: string, ...fields: string[]): void {
    this.#write(['response', msgId, 'OK', ...fields])
  }

  /** Refuses what the application asked; it may go on. */
  reject(msgId: string, text: string): void {
    this.#write(['response', msgId, 'NOK', text])
  }

  /** Refuses a frame that breaks the protocol, and ends the connection. */
  rejectAndClose(msgId: string, text: string): void {
    this.#write(['response', msgId, 'NO', text])
    this.#socket.destroySoon()
  }

  /** Ends the connection at once. */
  drop(): void {
    this.#socket.destroy()
  }

  /** The request that it was wanted for is over already: a connection that was made for it alone has no other use. */
  closeIfDedicated(): void {
    if (this.#dedicated) this.#socket.destroy()
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

  /** Tells of a final response to a request that is being sent on for the application. */
  proxyProgress(msgId: string, from: Endpoint, message: Buffer): void {
    const { protocol, address, port } = from
    const where = [String(message.length), protocol, address, String(port), timeOfDay(this.#clock.now())]
    this.#write(['response', msgId, 'OK', 'network', ...where, '', '', 'continue'], message)
  }

  /** Hands over a message that came from the network, or that the agent made. */
  deliver(delivery: Delivery): void {
    const { source, size, from, txnId, dialogId, local, message } = delivery
    const fields = ['sip', source, String(size), from.protocol, from.address, String(from.port)]
    fields.push(timeOfDay(this.#clock.now()), txnId, dialogId)
    if (local) fields.push(local.address, String(local.port))
    this.#write([...fields, ''], message)
  }

  /** Tells that a call began, was answered or ended: `verb` is `cdr:attempt`, `cdr:start` or `cdr:stop`. */
  record(verb: string, source: string, detail: string | undefined, message: Buffer): void {
    const fields = [verb, source, timeOfDay(this.#clock.now())]
    this.#write(detail === undefined ? fields : [...fields, detail], message)
  }

  #sent(where: Endpoint, message: Buffer): string[] {
    const time = timeOfDay(this.#clock.now())
    const { protocol, address, port } = where
    return ['OK', 'application', String(message.length), protocol, address, String(port), time]
  }

  /** What one turn of the event loop has to say goes to the system at once: at a high rate the calls to it are what costs most. */
  #gather(): void {
    if (this.#gathering) return
    this.#gathering = true
    this.#socket.cork()
    setImmediate(() => {
      this.#gathering = false
      this.#socket.uncork()
    })
  }

  #write(fields: string[], message?: Buffer): void {
    if (!this.isOpen) return
    this.#gather()
    this.#socket.write(makeFrame(`${randomUUID()}|${fields.join('|')}`, message))
    // An application that does not read would take all memory in the end. Cut off, its calls are ended as on any loss.
    if (this.#socket.writableLength > this.#maxBacklog) this.#socket.destroy()
  }
}
