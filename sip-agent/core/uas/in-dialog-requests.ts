import type { Dialog } from '../../dialog/dialog.ts'
import type { SipRequest } from '../../message/message.ts'
import { hasDescription } from '../../message/session-description.ts'
import type { ServerEntry } from '../../transaction/transactions.ts'
import type { AppHeader } from '../app-headers.ts'
import type { Context } from '../context.ts'
import { terminates } from '../subscriptions.ts'
import { cancelOf, deliverCancel } from './cancelled.ts'
import { type IncomingRequests, retryAfter } from './incoming-requests.ts'
import { rackOf } from './reliable-responses.ts'
import type { Unacked2xx } from './unacked-2xx.ts'

/** Returns a Retry-After of 0 to 10 s (RFC 3261 14.2 and RFC 3311 5.2). */
const randomRetryAfter = (): AppHeader => ['Retry-After', String(Math.floor(Math.random() * 11))]

/** Maximum number of pending requests of one dialog. The sender must retry further requests. */
const maxPending = 32

/** Received requests of existing dialogs, including early ones (RFC 3261 12.2.2). */
export class InDialogRequests {
  readonly #context: Context
  readonly #incoming: IncomingRequests
  readonly #answers: Unacked2xx

  constructor(options: { context: Context; incoming: IncomingRequests; answers: Unacked2xx }) {
    this.#context = options.context
    this.#incoming = options.incoming
    this.#answers = options.answers
  }

  /** Handles a request of `dialog`. */
  serve(request: SipRequest, side: ServerEntry, dialog: Dialog, size: number) {
    // RFC 3261 12.2.2: the CSeq number is lower than the number of an earlier request.
    if (!dialog.acceptSeq(request.seq)) return this.#incoming.reply(request, side, { status: 500 })
    if (request.method === 'BYE') return this.#bye(request, side, dialog, size)
    if (request.method === 'PRACK') return this.#prack(request, side, dialog, size)
    if (this.#incoming.pending.count(dialog) >= maxPending)
      return this.#incoming.reply(request, side, { status: 503, headers: [retryAfter] })
    // The subscription ends, whatever the application answers.
    if (request.method === 'NOTIFY' && terminates(request.headers))
      this.#context.subscriptions.granted(dialog, 0)
    const refusal = this.#untimely(request, dialog)
    if (refusal === undefined) this.#incoming.offerInDialog(request, side, dialog, size)
    else
      this.#incoming.reply(request, side, {
        status: refusal,
        headers: refusal === 500 ? [randomRetryAfter()] : [],
      })
  }

  /** Answers a PRACK for an INVITE whose dialog is gone. */
  latePrack(request: SipRequest, side: ServerEntry) {
    const status = this.#incoming.latePracks.take(request) ? 200 : 481
    this.#incoming.reply(request, side, { status })
  }

  /**
   * Returns the status that rejects a session change at the wrong time (RFC 3261 14.2, RFC 3311 5.2);
   * undefined if it is permitted.
   */
  #untimely(request: SipRequest, dialog: Dialog): number | undefined {
    const { method } = request
    if (method !== 'INVITE' && method !== 'UPDATE') return undefined
    const open = this.#incoming.pending.ofDialog(dialog)
    if (open.some((each) => each.request.method === 'UPDATE')) return 500
    if (method === 'UPDATE') return hasDescription(request) ? this.#glare(dialog) : undefined
    return (
      this.#glare(dialog) ?? (open.some(({ side }) => side.isInvite) || !dialog.isConfirmed ? 500 : undefined)
    )
  }

  #glare(dialog: Dialog): number | undefined {
    return dialog.inviteTxn ? 491 : dialog.offers.refusal
  }

  /** Delivers a PRACK that matches (RFC 3262 3), and sends the responses held for it. */
  #prack(request: SipRequest, side: ServerEntry, dialog: Dialog, size: number) {
    const rack = rackOf(request)
    if (!rack) return this.#incoming.reply(request, side, { status: 400, reason: 'Bad RAck' })
    const invite = this.#incoming.pending.invite(dialog)
    const fits = invite && rack.method === 'INVITE' && rack.seq === invite.request.seq
    if (!fits || !invite.reliable?.acknowledge(rack.rseq)) return this.latePrack(request, side)
    this.#incoming.offerInDialog(request, side, dialog, size)
    invite.reliable.release()
  }

  #bye(request: SipRequest, side: ServerEntry, dialog: Dialog, size: number) {
    if (!dialog.isConfirmed) return this.#earlyBye(request, side, dialog, size)
    // RFC 3261 15.1.2: pending requests of the dialog are answered with 487.
    for (const waiting of this.#incoming.pending.ofDialog(dialog)) this.#incoming.finish(waiting, 487)
    this.#incoming.offerInDialog(request, side, dialog, size)
    this.#context.cdrs.stop(dialog, 'network', 'normal-release', request)
    this.#context.dialogs.remove(dialog)
    this.#answers.drop(dialog)
  }

  /** Handles a BYE that the caller sends before the answer. The application receives a CANCEL. */
  #earlyBye(request: SipRequest, side: ServerEntry, dialog: Dialog, size: number) {
    const open = this.#incoming.pending.ofDialog(dialog)
    const invite = open.find((each) => !each.isInDialog)
    if (!invite) return this.#incoming.reply(request, side, { status: 481 })
    this.#incoming.reply(request, side, { status: 200 })
    for (const waiting of open) this.#incoming.finish(waiting, 487, { end: 'call-canceled' })
    deliverCancel(invite, cancelOf(invite.request, request.headers.first('reason')), side.flow, size)
  }
}
