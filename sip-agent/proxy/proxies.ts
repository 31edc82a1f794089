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

/** The requests that applications asked to be sent on, until their senders have a final response. */
export class Proxies {
  readonly #context: Context
  readonly #incoming: IncomingRequests
  readonly #routes: OwnRoutes
  readonly #bySide = new Map<string, ProxiedRequest>()
  /** What passes without a transaction. */
  readonly stateless: StatelessForwarding

  /** `fault` is told of errors within the agent that cost what passes, and not the agent. */
  constructor(context: Context, incoming: IncomingRequests, fault: (error: unknown) => void) {
    this.#context = context
    this.#incoming = incoming
    this.#routes = new OwnRoutes(context.clock)
    this.stateless = new StatelessForwarding(context, this.#routes, fault)
  }

  /** Requests without a final response. */
  get size(): number {
    return this.#bySide.size
  }

  /** An application wants a request sent on that waits for its answer. */
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
    // An early dialog of the application's own responses is not the one that the target will make.
    if (waiting.dialog) this.#context.dialogs.remove(waiting.dialog)
    const toUs = this.#isOurs(request)
    const done = () => this.#bySide.delete(side.key)
    const proxy = new ProxiedRequest({
      context: this.#context,
      app,
      msgId,
      order,
      raw,
      request,
      side,
      toUs,
      routes: this.#routes,
      done,
    })
    this.#bySide.set(side.key, proxy)
    proxy.run()
  }

  /** A CANCEL came; nothing happens where its request was not sent on. */
  cancel(side: ServerEntry) {
    this.#bySide.get(side.key)?.cancel()
  }

  /** Forgets everything without a word. */
  close() {
    for (const proxy of this.#bySide.values()) proxy.close()
    this.#bySide.clear()
  }

  /** Whether the request-uri names the agent itself. */
  #isOurs(request: SipRequest): boolean {
    const uri = parseUri(request.uri, 'Request-URI')
    if (!isSipUri(uri)) return false
    const { transports } = this.#context
    const port = uri.port ?? 5060
    return transports.addresses.some(({ protocol }) => transports.isOwn(protocol, uri.host, port))
  }
}
