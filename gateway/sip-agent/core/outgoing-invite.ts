import type { Timer } from '../../clock.ts'
import { contactOf, Dialog, dialogId, recordRoute } from '../dialog/dialog.ts'
import type { App } from '../drachtio/app.ts'
import type { SipResponse } from '../message/message.ts'
import type { ClientFailure, InviteClientTransaction } from '../transaction/invite-client.ts'
import type { ClientSide, ClientUser } from '../transaction/transactions.ts'
import type { Flow } from '../transport/types.ts'
import type { AppHeader } from './app-headers.ts'
import type { Context } from './context.ts'
import { hangUp } from './hangup.ts'
import { makeInDialog } from './in-dialog.ts'
import { deliverLocal, deliverResponse, failureStatus } from './outgoing-request.ts'
import { type MadeRequest, makeCancel, makeFailureAck } from './requests.ts'

/** How an {@link OutgoingInvite} begins. */
export interface OutgoingInviteStart {
  readonly context: Context
  readonly app: App
  readonly txnId: string
  readonly made: MadeRequest
  readonly flow: Flow
  readonly fromTag: string
  readonly contact: string
  /** The dialog of a re-INVITE. */
  readonly dialog: Dialog | undefined
  /** Called once, when a final response was handed over. */
  readonly done: () => void
}

/** Early dialogs of one INVITE; provisional responses of more forks are told, but make none. */
const mostForks = 32
/** Value of the Reason header where a CANCEL crossed the 2xx. */
const crossed = 'SIP;cause=200;text="ACK-BYE due to cancel race condition"'
const forked = 'SIP;cause=200;text="Answered elsewhere"'
const abandoned = 'SIP;cause=503;text="Application connection lost"'

/** An INVITE or re-INVITE that the application sends, from its start to the end of its transaction. */
export class OutgoingInvite implements ClientUser {
  readonly #context: Context
  readonly #txnId: string
  readonly #made: MadeRequest
  readonly #flow: Flow
  readonly #start: OutgoingInviteStart
  readonly dialogId: string
  #app: App | undefined
  #side: ClientSide | undefined
  readonly #early = new Map<string, Dialog>()
  #answered: Dialog | undefined
  #state: 'calling' | 'proceeding' | 'ended' = 'calling'
  /** Headers of a CANCEL that waits for the first provisional response (RFC 3261 9.1), or was sent. */
  #cancel: { readonly headers: readonly AppHeader[]; sent: boolean } | undefined
  #timer: Timer | undefined

  constructor(start: OutgoingInviteStart) {
    this.#start = start
    this.#context = start.context
    this.#app = start.app
    this.#txnId = start.txnId
    this.#made = start.made
    this.#flow = start.flow
    this.dialogId = start.dialog?.id ?? dialogId(start.made.callId, start.fromTag)
  }

  /** The application it belongs to; undefined once that is gone. */
  get app(): App | undefined {
    return this.#app
  }

  /** Sends the request. */
  send(): void {
    const { branch, bytes } = this.#made
    this.#side = this.#context.transactions.send(branch, 'INVITE', bytes, this.#flow, this)
  }

  /**
   * Cancels the INVITE. Returns the CANCEL; it goes out now, or after the first provisional response.
   */
  cancel(headers: readonly AppHeader[]): { bytes: Buffer; sent: boolean; flow: Flow } {
    const bytes = makeCancel(this.#made, headers)
    if (!this.#cancel) {
      this.#cancel = { headers, sent: false }
      if (this.#state === 'proceeding') this.#sendCancel()
    }
    return { bytes, sent: this.#cancel.sent, flow: this.#flow }
  }

  /** The application is gone: nothing is handed over any more, and the call is not wanted. */
  abandon(): void {
    this.#app = undefined
    this.cancel([['Reason', abandoned]])
  }

  response(response: SipResponse, flow: Flow, size: number): void {
    if (response.status < 200) this.#provisional(response, flow, size)
    else if (response.status < 300) this.#success(response, flow, size)
    else this.#failure(response, flow, size)
  }

  failed(why: ClientFailure): void {
    const [status, reason] = this.#cancel?.sent ? [487, 'Request Terminated'] : failureStatus(why)
    this.#end()
    const { protocol } = this.#flow.local
    deliverLocal(
      this.#app,
      this.#txnId,
      this.dialogId,
      this.#made,
      status as number,
      reason as string,
      protocol,
    )
  }

  ack(response: SipResponse): Buffer {
    return makeFailureAck(this.#made, response)
  }

  ended(): void {
    // No 2xx can be repeated any more (timer M), so the ACK need not be kept.
    this.#answered?.forgetAck(this.#made.seq)
  }

  #provisional(response: SipResponse, flow: Flow, size: number): void {
    if (this.#state === 'ended') return
    this.#state = 'proceeding'
    if (response.status > 100) {
      const makes = !this.#start.dialog && response.toTag !== '' && this.#early.size < mostForks
      if (makes) this.#dialogOf(response, flow)
      deliverResponse(this.#app, this.#txnId, this.dialogId, response, flow, size)
    }
    if (this.#cancel && !this.#cancel.sent) this.#sendCancel()
    else if (!this.#cancel) this.#ring()
  }

  /** Nobody lets a telephone ring for ever: each provisional starts the wait anew (timer C of RFC 3261 16.6). */
  #ring(): void {
    this.#timer?.cancel()
    this.#timer = this.#context.clock.after(this.#context.timers.ringing, () => this.cancel([]))
  }

  #sendCancel(): void {
    if (!this.#cancel) return
    this.#cancel.sent = true
    const { clock, timers, transactions } = this.#context
    const bytes = makeCancel(this.#made, this.#cancel.headers)
    const user = { response: () => {}, failed: () => {} }
    transactions.send(this.#made.branch, 'CANCEL', bytes, this.#flow, user)
    this.#timer?.cancel()
    // RFC 3261 9.1: without a final response by then, the INVITE is considered cancelled.
    this.#timer = clock.after(64 * timers.t1, () => {
      const machine = this.#side?.machine as InviteClientTransaction | undefined
      machine?.giveUp()
    })
  }

  #success(response: SipResponse, flow: Flow, size: number): void {
    const dialog = this.#start.dialog ?? this.#dialogOf(response, flow)
    if (this.#answered) {
      if (dialog === this.#answered) dialog.repeatAck(this.#made.seq)
      else this.#refuseFork(dialog)
      return
    }
    this.#answered = dialog
    this.#keepOnly(dialog)
    dialog.refresh(response, flow)
    if (!this.#start.dialog) this.#context.dialogs.confirm(dialog)
    dialog.answeredSeq = this.#made.seq
    if (this.#cancel && !this.#start.dialog) dialog.endAfterAck = true
    this.#end()
    const told = plainAnswer(response, dialog)
    if (this.#app) deliverResponse(this.#app, this.#txnId, this.dialogId, told, flow, size)
    else this.#acknowledgeAndEnd(dialog, abandoned)
  }

  #failure(response: SipResponse, flow: Flow, size: number): void {
    this.#keepOnly(undefined)
    this.#end()
    deliverResponse(this.#app, this.#txnId, this.dialogId, response, flow, size)
  }

  /** The dialog that a response speaks of (RFC 3261 12.1.2); made when it is a new one. */
  #dialogOf(response: SipResponse, flow: Flow): Dialog {
    const known =
      this.#answered?.remoteTag === response.toTag ? this.#answered : this.#early.get(response.toTag)
    if (known) return known
    const { made, fromTag, contact } = this.#start
    const dialog = new Dialog({
      id: this.dialogId,
      callId: made.callId,
      localTag: fromTag,
      remoteTag: response.toTag,
      localAddress: made.from,
      remoteAddress: response.headers.first('to') ?? made.to,
      routeSet: recordRoute(response).reverse(),
      localSeq: made.seq,
      remoteSeq: -1,
      localContact: contact,
      flow,
      target: contactOf(response) ?? made.uri,
      owner: this.#app,
    })
    this.#early.set(response.toTag, dialog)
    this.#context.dialogs.add(dialog)
    return dialog
  }

  #keepOnly(kept: Dialog | undefined): void {
    for (const dialog of this.#early.values()) if (dialog !== kept) this.#context.dialogs.remove(dialog)
    this.#early.clear()
  }

  /** Another fork answered too (RFC 3261 13.2.2.4): it is acknowledged and ended, the application never sees it. */
  #refuseFork(dialog: Dialog): void {
    if (dialog.repeatAck(this.#made.seq)) return
    this.#acknowledgeAndEnd(dialog, forked)
  }

  #acknowledgeAndEnd(dialog: Dialog, reason: string) {
    if (dialog.ended) return
    this.#context.dialogs.remove(dialog)
    const request = { method: 'ACK', seq: this.#made.seq, headers: () => [] }
    makeInDialog(this.#context, dialog, request, (made, flow) => {
      dialog.keepAck(this.#made.seq, made.bytes, flow)
      flow.send(made.bytes)
      endSilently(this.#context, dialog, reason)
    })
  }

  #end(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#timer?.cancel()
    this.#keepOnly(this.#answered)
    if (this.#start.dialog?.inviteTxn === this.#txnId) this.#start.dialog.inviteTxn = undefined
    this.#start.done()
  }
}

/**
 * The 2xx as the application is told it. drachtio-srf takes only a 200 with a Contact for an answer, and would leave any other
 * call acknowledged and up for ever. To an endpoint every 2xx means 200 (RFC 3261 8.1.3.2); a missing Contact is replaced by the
 * target that requests go to without it.
 */
const plainAnswer = (response: SipResponse, dialog: Dialog): SipResponse => {
  if (contactOf(response) === undefined) response.headers.replace('Contact', `<${dialog.target}>`)
  return response.status === 200 ? response : { ...response, status: 200 }
}

/** Ends a dialog of which the application never heard. */
const endSilently = (context: Context, dialog: Dialog, reason: string): void => {
  const request = { method: 'BYE', headers: () => [['Reason', reason] as [string, string]] }
  makeInDialog(context, dialog, request, (made, flow) => {
    context.transactions.send(made.branch, 'BYE', made.bytes, flow, { response: () => {}, failed: () => {} })
  })
}

/** Follows the ACK of a call whose CANCEL came too late. */
export const endCrossed = (context: Context, dialog: Dialog): void => hangUp(context, dialog, crossed)
