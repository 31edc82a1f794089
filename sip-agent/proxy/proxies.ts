import type { Context } from '../core/context.ts'
import type { IncomingRequests } from '../core/uas/incoming-requests.ts'
import type { App } from '../drachtio/app.ts'
import type { RawMessage, SipRequest } from '../message/message.ts'
import { isSipUri, parseUri } from '../message/uri.ts'
import type { ServerEntry } from '../transaction/transactions.ts'
import { breadthOf, hopsLeft } from './forward.ts'
import { OwnRoutes } from './own-routes.ts'
import { ProxiedRequest } from './proxied-request.ts'
import { readOrder } from './proxy-order.ts'
import { StatelessForwarding } from './stateless-forwarding.ts'

/** Requests that are proxied for applications, until their senders have a final response. */
export class Proxies {
  readonly #context: Context
  readonly #incoming: IncomingRequests
  readonly #routes: OwnRoutes
  readonly #bySide = new Map<string, ProxiedRequest>()
  /** Stateless forwarding within dialogs. */
  readonly stateless: StatelessForwarding

  /** `fault` receives internal errors that cost one forwarded message. */
  constructor(context: Context, incoming: IncomingRequests, fault: (error: unknown) => void) {
    this.#context = context
    this.#incoming = incoming
    this.#routes = new OwnRoutes(context.clock)
    this.stateless = new StatelessForwarding(context, this.#routes, fault)
  }

  /** Number of requests without a final response. */
  get size(): number {
    return this.#bySide.size
  }

  /** Proxies a pending request according to a `proxy` frame of its application. */
  start(app: App, msgId: string, fields: readonly string[], raw: RawMessage) {
    const order = readOrder(fields)
    const waiting = this.#incoming.pending.get(order.txnId)
    if (raw.kind !== 'request' || waiting?.app !== app || waiting.isInDialog || waiting.isSettled)
      return app.reject(msgId, `Unknown transaction id: ${order.txnId}`)
    const { request, side } = waiting
    if (hopsLeft(request) === undefined) {
      this.#incoming.finish(waiting, 483)
      return app.reject(msgId, 'too many hops')
    }
    if (breadthOf(request) === 0) {
      this.#incoming.finish(waiting, 440)
      return app.reject(msgId, 'too many branches')
    }
    if (order.targets.length === 0) {
      this.#incoming.finish(waiting, 500)
      return app.reject(msgId, 'error proxying request to ')
    }
    this.#incoming.settle(waiting)
    // If the application's own provisional responses created an early dialog, drop it: the target creates the
    // dialog of the call.
    if (waiting.dialog) this.#context.dialogs.remove(waiting.dialog)
    const isForAgent = this.#isOurs(request)
    const done = () => this.#bySide.delete(side.key)
    const proxy = new ProxiedRequest({
      context: this.#context,
      app,
      msgId,
      order,
      raw,
      request,
      side,
      isForAgent,
      routes: this.#routes,
      done,
    })
    this.#bySide.set(side.key, proxy)
    proxy.run()
  }

  /** Handles a CANCEL; does nothing if its request is not proxied. */
  cancel(side: ServerEntry) {
    this.#bySide.get(side.key)?.cancel()
  }

  /** Stops all proxied requests. */
  close() {
    for (const proxy of this.#bySide.values()) proxy.close()
    this.#bySide.clear()
  }

  /** Returns whether the request-URI names the agent itself. */
  #isOurs(request: SipRequest): boolean {
    const uri = parseUri(request.uri, 'Request-URI')
    if (!isSipUri(uri)) return false
    const { transports } = this.#context
    const port = uri.port ?? 5060
    return transports.addresses.some(({ protocol }) => transports.isOwn(protocol, uri.host, port))
  }
}
