import { randomUUID } from 'node:crypto'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { WebSocket } from 'ws'
import type { DocumentSocket, SocketListener, SocketRequest } from '../../handlers/handler.ts'
import type { Clock } from '../core/clock.ts'
import { CustomerSocket, maxCloseMs } from './customer-socket.ts'
import { guardedLookup, type Lookup, literalOf, type Resolve } from './guarded-lookup.ts'
import type { Signer } from './signatures.ts'

/** Options of {@link CustomerSockets}. */
export interface CustomerSocketsOptions {
  /** Networks (CIDR) that are permitted although they are not public. */
  readonly allowedNetworks: readonly string[]
  /** Value of the User-Agent header; empty for no header. */
  readonly userAgent: string
  readonly clock: Clock
  /** Returns the signer of a project. */
  readonly signer: (projectId: string) => Signer
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

/**
 * WebSockets to customers' servers, by the rules of `CustomerHttp`: public addresses and the allowed networks
 * only. The handshake is signed as a request without a body, also in the header of the hosted service whose
 * messages these servers speak.
 */
export class CustomerSockets {
  readonly #options: CustomerSocketsOptions
  readonly #guard: AddressGuard
  readonly #lookup: Lookup
  readonly #open = new Set<DocumentSocket>()

  constructor(options: CustomerSocketsOptions) {
    this.#options = options
    this.#guard = new AddressGuard(options.allowedNetworks)
    this.#lookup = guardedLookup(this.#guard, options.resolve)
  }

  /** Number of connections that are open or being opened. */
  get running(): number {
    return this.#open.size
  }

  /** Applies new networks to later connections. */
  change(allowedNetworks: readonly string[]): void {
    this.#guard.change(allowedNetworks)
  }

  /** See `HandlerContext.openSocket`. */
  open(request: SocketRequest, projectId: string, listener: SocketListener): DocumentSocket {
    const { clock } = this.#options
    const end = () => this.#open.delete(socket)
    const socket: DocumentSocket = new CustomerSocket(
      () => this.#connect(request, projectId),
      { clock, onClosed: end },
      listener,
    )
    this.#open.add(socket)
    return socket
  }

  /** Closes all connections. */
  close(): void {
    for (const socket of this.#open) socket.close()
  }

  /** Throws an Error, without secrets of the URL, if the connection is not permitted. */
  #connect({ url: text, maxMessageBytes }: SocketRequest, projectId: string): WebSocket {
    const url = URL.parse(text)
    if (!url || (url.protocol !== 'ws:' && url.protocol !== 'wss:'))
      throw new Error('its URL does not begin with wss: or ws:')
    // A WebSocket URL must not have a fragment (RFC 6455 section 3).
    url.hash = ''
    const literal = literalOf(url)
    // An IP address is not resolved, so it is checked here.
    if (literal !== undefined && !this.#guard.permits(literal))
      throw new Error(`the address ${literal} is not public, and not in limits.documentNetworks`)
    const { userAgent } = this.#options
    // The declarations of ws lack this option.
    const closing = { closeTimeout: maxCloseMs }
    return new WebSocket(url, {
      headers: { ...(userAgent && { 'user-agent': userAgent }), ...this.#signature(url, projectId) },
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      lookup: this.#lookup,
      ...closing,
    })
  }

  #signature(url: URL, projectId: string): Readonly<Record<string, string>> {
    const { clock, signer } = this.#options
    const signed = new URL(url)
    signed.username = ''
    signed.password = ''
    const headers = signer(projectId).headers({ url: signed.href, id: randomUUID(), at: clock.now() })
    const signature = headers['x-signalwire-signature']
    return { ...headers, ...(signature !== undefined && { 'x-twilio-signature': signature }) }
  }
}
