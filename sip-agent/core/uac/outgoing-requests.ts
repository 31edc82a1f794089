import { randomUUID } from 'node:crypto'
import { dialogId } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import { notPermitted } from '../../drachtio/extensions.ts'
import type { RawRequest } from '../../message/message.ts'
import { knownMethods } from '../../message/methods.ts'
import { hasDescription } from '../../message/session-description.ts'
import { type FarEnd, farEndOf } from '../../reach/far-end.ts'
import { appHeaders, contentType } from '../app-headers.ts'
import type { Context } from '../context.ts'
import { rejectMalformed } from '../reject-malformed.ts'
import type { Unacked2xx } from '../uas/unacked-2xx.ts'
import { type FlowOrHop, isHop, isOwn } from './flow-or-hop.ts'
import { dialogHeaders, invalidUri, isUri, prepareNew } from './new-request.ts'
import { OutgoingInDialog } from './outgoing-in-dialog.ts'
import { OutgoingInvites } from './outgoing-invites.ts'
import { OutgoingRequest } from './outgoing-request.ts'
import { RequestFailover } from './request-failover.ts'
import { TemporaryTrust } from './temporary-trust.ts'

const cancelHeaders = new Set([...dialogHeaders, 'contact', 'p-asserted-identity', 'max-forwards'])
/** Methods that create a subscription (RFC 6665, RFC 3515). */
const subscribes = new Set(['SUBSCRIBE', 'REFER'])

/** Requests of applications to the network. */
export class OutgoingRequests {
  readonly #context: Context
  readonly #invites = new OutgoingInvites()
  readonly #within: OutgoingInDialog

  constructor(context: Context, answers: Unacked2xx) {
    this.#context = context
    this.#within = new OutgoingInDialog(context, answers, this.#invites)
  }

  /** Number of INVITEs without a final response. */
  get size(): number {
    return this.#invites.size
  }

  /** Sends a new request outside dialogs. `nextHop` is empty if the request-URI names the destination. */
  request(app: App, msgId: string, raw: RawRequest, nextHop: string) {
    if (!knownMethods.has(raw.method) || raw.method === 'ACK' || raw.method === 'CANCEL') {
      return app.reject(msgId, `invalid method: ${raw.method}`)
    }
    const type = contentType(raw)
    if (type === undefined) return app.reject(msgId, 'missing content-type')
    if (!isUri(raw.uri) || (nextHop !== '' && !isUri(nextHop))) return app.reject(msgId, invalidUri(raw))
    const send = (ways: readonly FlowOrHop[]) =>
      rejectMalformed(app, msgId, () => this.#send(app, msgId, raw, type, ways))
    const { registeredFlows, router } = this.#context
    const registered = nextHop === '' ? registeredFlows.outside(raw.method, raw.uri) : undefined
    const farEnd = farEndOf(raw.headers)
    if (registered) return this.#judged(app, msgId, farEnd, [registered], send)
    const found = router.find(nextHop === '' ? raw.uri : nextHop, (hops) => {
      if (!app.isOpen) return
      const others = hops.filter((hop) => !isOwn(hop, this.#context))
      if (hops.length > others.length && others.length === 0)
        return app.reject(msgId, 'can not send request to myself')
      this.#judged(app, msgId, farEnd, others, send)
    })
    if (!found) app.reject(msgId, 'requested protocol/transport not available')
  }

  /** Sends a request within the dialog `id`. */
  inDialog(app: App, msgId: string, id: string, raw: RawRequest) {
    if (raw.method === 'ACK') this.#within.ack(app, msgId, id, raw)
    else this.#within.request(app, msgId, id, raw)
  }

  /** Sends a CANCEL of the INVITE with this transaction id. */
  cancel(app: App, msgId: string, txnId: string, raw: RawRequest) {
    const invite = this.#invites.get(txnId)
    if (!invite || invite.app !== app) {
      return app.reject(msgId, `unable to cancel unknown transaction id: ${txnId}`)
    }
    const own = { host: 'localhost', port: 5060, protocol: 'udp' } as const
    rejectMalformed(app, msgId, () => {
      const { bytes, flow } = invite.cancel(appHeaders(raw.headers, own, cancelHeaders))
      app.requestSent(msgId, flow.local, randomUUID(), bytes)
    })
  }

  /** Cancels the unanswered calls of a lost application. */
  lost(app: App) {
    this.#invites.lost(app)
  }

  /** Stops all requests. */
  close() {
    this.#invites.close()
    this.#within.close()
  }

  /**
   * Sends the request if every hop is permitted. The request uses exactly the addresses that were checked.
   */
  #judged(
    app: App,
    msgId: string,
    farEnd: FarEnd | undefined,
    ways: readonly FlowOrHop[],
    send: (ways: readonly FlowOrHop[]) => void,
  ) {
    const places = ways.map((way) => (isHop(way) ? way : way.remote))
    this.#context.reach.outside(farEnd, places, (objection) => {
      if (!app.isOpen) return
      if (objection) app.reject(msgId, `${notPermitted}${objection}`)
      else send(ways)
    })
  }

  #send(app: App, msgId: string, raw: RawRequest, type: string, ways: readonly FlowOrHop[]) {
    const farEnd = farEndOf(raw.headers)
    // For a destination that a customer chose, the shield trusts the address only while the call lasts.
    const holds = farEnd?.kind === 'project' ? new TemporaryTrust(this.#context.shield) : undefined
    const prepared = prepareNew(this.#context, raw, type, ways)
    const by = holds ? 'customer' : 'us'
    const attempts = new RequestFailover(
      this.#context,
      { ways, make: prepared.make, chosenBy: by, holds },
      { canSkip503: true },
    )
    const { made, flow } = attempts
    const fromTag = prepared.tag
    const txnId = randomUUID()
    app.requestSent(msgId, flow.local, txnId, made.bytes)
    if (raw.method === 'INVITE') {
      const hasOffer = hasDescription(raw)
      const call = { context: this.#context, app, txnId, attempts, fromTag, hasOffer, farEnd, holds }
      return this.#invites.start(call)
    }
    const begun = subscribes.has(raw.method)
      ? this.#context.subscriptions.begin({
          app,
          fromTag,
          made: () => attempts.made,
          origin: () => attempts.flow,
        })
      : undefined
    const user = new OutgoingRequest({
      app,
      txnId,
      dialogId: raw.method === 'SUBSCRIBE' ? dialogId(made.callId, fromTag) : '',
      attempts,
      final: ({ response, flow: from }) => {
        begun?.settle(response, from)
        holds?.release()
      },
    })
    attempts.start(user)
  }
}
