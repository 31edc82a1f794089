import type { Timer } from '../../clock.ts'
import { contactOf, type Dialog, dialogId } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { SipResponse } from '../../message/message.ts'
import type { FarEnd } from '../../reach/far-end.ts'
import type { ClientFailure } from '../../transaction/invite-client.ts'
import type { Flow } from '../../transport/types.ts'
import type { AppHeader } from '../app-headers.ts'
import type { Context } from '../context.ts'
import { makeCancel } from '../requests.ts'
import { Forks } from './forks.ts'
import { hangUp } from './hangup.ts'
import { sendAck, sendInDialog } from './in-dialog.ts'
import { deliverLocal, deliverResponse, endsCall, failureStatus, goneReason } from './outgoing-request.ts'
import { type FailoverUser, noopFailoverUser, type RequestFailover } from './request-failover.ts'
import { ownName } from './sent-descriptions.ts'
import type { TemporaryTrust } from './temporary-trust.ts'

/** Options of an {@link OutgoingInvite}. */
export interface OutgoingInviteOptions {
  readonly context: Context
  readonly app: App
  readonly txnId: string
  readonly attempts: RequestFailover
  readonly fromTag: string
  /** Whether the INVITE carries a session description. */
  readonly hasOffer: boolean
  /** Dialog of a re-INVITE. */
  readonly dialog?: Dialog
  /** Far end of a new call, as the application names it. */
  readonly farEnd?: FarEnd | undefined
  /**
   * Trust in the addresses that the INVITE is sent to. Released at the end of the call; without a call, at
   * the end of the INVITE.
   */
  readonly holds?: TemporaryTrust | undefined
  /** Called once, after the final response was delivered. */
  readonly done: () => void
}

/** Reasons of the BYE after an ACK, for instance when a CANCEL crossed the 2xx. */
const crossed = 'SIP;cause=200;text="ACK-BYE due to cancel race condition"'
const forked = 'SIP;cause=200;text="Answered elsewhere"'
const abandoned = 'SIP;cause=503;text="Application connection lost"'
const disconnected = 'SIP;cause=503;text="Connection lost"'
const unacknowledged = 'SIP;cause=408;text="Not acknowledged by the application"'

/** INVITE or re-INVITE of an application, until the end of its transaction. */
export class OutgoingInvite implements FailoverUser {
  readonly #context: Context
  readonly #start: OutgoingInviteOptions
  readonly #attempts: RequestFailover
  readonly #forks: Forks
  readonly dialogId: string
  #app: App | undefined
  #answered: Dialog | undefined
  #hasEnded = false
  /** Whether a 2xx without a tag has ended the call. */
  #isVoid = false
  /** Headers of a CANCEL that was sent, or that waits for the first provisional response (RFC 3261 9.1). */
  #cancel: { readonly headers: readonly AppHeader[]; sent: boolean } | undefined
  #timer: Timer | undefined
  #unwatch = () => {}

  constructor(start: OutgoingInviteOptions) {
    const { context, app, attempts, fromTag, hasOffer, dialog, farEnd } = start
    this.#start = start
    this.#context = context
    this.#app = app
    this.#attempts = attempts
    this.dialogId = dialog?.id ?? dialogId(attempts.made.callId, fromTag)
    const origin = () => attempts.flow
    this.#forks = new Forks({
      context,
      id: this.dialogId,
      fromTag,
      hasOffer,
      owner: app,
      origin,
      farEnd,
    })
  }

  /** The owning application; undefined after its connection is lost. */
  get app(): App | undefined {
    return this.#app
  }

  /** Sends the request. */
  send() {
    const { dialog, hasOffer } = this.#start
    const { made } = this.#attempts
    if (dialog && hasOffer) dialog.offers.noteDescription('ours', this.#name)
    // The end of a call ends its open requests (RFC 3261 15).
    if (dialog) this.#unwatch = dialog.whenEnded(() => this.cancel([]))
    else this.#context.cdrs.attempt('application', made.bytes)
    this.#attempts.start(this)
  }

  /** Cancels the INVITE. Returns the CANCEL, which is sent now or after the first provisional response. */
  cancel(headers: readonly AppHeader[]): { bytes: Buffer; flow: Flow } {
    const bytes = makeCancel(this.#attempts.made, headers)
    if (!this.#cancel && !this.#hasEnded) {
      this.#attempts.stay()
      this.#cancel = { headers, sent: false }
      if (this.#attempts.heard) this.#sendCancel()
    }
    return { bytes, flow: this.#attempts.flow }
  }

  /** Cancels the INVITE of a lost application. No further response is delivered. */
  abandon() {
    this.#app = undefined
    this.cancel([['Reason', abandoned]])
  }

  /** Stops all timers. */
  stop() {
    this.#timer?.cancel()
    this.#unwatch()
  }

  response(response: SipResponse, flow: Flow, size: number) {
    const isUntagged = response.status >= 200 && response.status < 300 && response.toTag === ''
    if (isUntagged && !this.#start.dialog) this.#untagged(flow)
    else if (response.status < 200) this.#provisional(response, flow, size)
    else if (response.status < 300) this.#success(response, flow, size)
    else this.#failure(response, flow, size)
  }

  failed(why: ClientFailure) {
    const [status, reason] = this.#cancel ? ([487, 'Request Terminated'] as const) : failureStatus(why)
    // The connection was lost, but the called phone may still be ringing. A CANCEL stops it.
    if (why === 'transport' && this.#attempts.heard) this.#cancelAgain()
    this.#end()
    const { made, flow } = this.#attempts
    const bytes = deliverLocal(this.#app, this.#start.txnId, this.dialogId, made, status, reason, flow)
    this.#lost(status, 'application', bytes)
  }

  ended() {
    const { seq } = this.#attempts.made
    const dialog = this.#answered
    // No 2xx can be retransmitted any more (timer M), so the ACK is not needed.
    dialog?.forgetAck(seq)
    // The application has not sent an ACK, and the far end has stopped waiting for one. The call must not
    // stay up.
    if (dialog?.answeredSeq === seq) hangUp(this.#context, dialog, unacknowledged)
  }

  get #name(): string {
    return ownName('INVITE', this.#attempts.made.seq)
  }

  #provisional(response: SipResponse, flow: Flow, size: number) {
    if (this.#hasEnded) return
    if (response.status > 100) this.#progress(response, flow, size)
    else if (this.#context.deliversTrying && !this.#start.dialog) this.#deliver(response, flow, size)
    if (this.#cancel && !this.#cancel.sent) this.#sendCancel()
    else if (!this.#cancel && (response.status > 100 || !this.#timer)) this.#ring()
  }

  #progress(response: SipResponse, flow: Flow, size: number) {
    const { made } = this.#attempts
    const dialog = this.#start.dialog ?? this.#forks.early(response, flow, made)
    const rseq = rseqOf(response)
    if (dialog && rseq !== undefined && !dialog.acceptRseq(made.seq, rseq)) return
    if (dialog) this.#forks.note(dialog, response, made)
    this.#deliver(response, flow, size)
    // A reliable 199 still needs its PRACK, so its dialog stays until the final response.
    if (response.status === 199 && rseq === undefined && dialog && !this.#start.dialog)
      this.#forks.drop(dialog)
  }

  /**
   * Limits the ringing time: each provisional response but 100 restarts the timer (timer C of RFC 3261 16.6
   * and 16.7).
   */
  #ring() {
    this.#timer?.cancel()
    this.#timer = this.#context.clock.after(this.#context.timers.ringing, () => this.cancel([]))
  }

  #sendCancel() {
    if (!this.#cancel) return
    this.#cancel.sent = true
    const { clock, timers, transactions } = this.#context
    const { made, flow } = this.#attempts
    transactions.send(made.branch, 'CANCEL', makeCancel(made, this.#cancel.headers), flow, noopFailoverUser)
    this.#timer?.cancel()
    // RFC 3261 9.1: without a final response by then, the INVITE is considered cancelled.
    this.#timer = clock.after(64 * timers.t1, () => this.#attempts.giveUp())
  }

  #cancelAgain() {
    const flow = this.#attempts.again()
    const { made } = this.#attempts
    const bytes = makeCancel(made, this.#cancel?.headers ?? [['Reason', disconnected]])
    if (flow) this.#context.transactions.send(made.branch, 'CANCEL', bytes, flow, noopFailoverUser)
  }

  /**
   * Fails the call after a 2xx without a To tag. Such a 2xx creates no dialog, because requests of the far
   * end would look like new calls. RFC 3261 12.1.2 accepts it for compatibility with RFC 2543 only. No ACK is
   * sent, as it would need the tag too.
   */
  #untagged(flow: Flow) {
    if (this.#hasEnded) return
    this.#isVoid = true
    this.#end()
    const { made } = this.#attempts
    const bytes = deliverLocal(this.#app, this.#start.txnId, this.dialogId, made, 502, 'Bad Gateway', flow)
    this.#lost(502, 'network', bytes)
  }

  #success(response: SipResponse, flow: Flow, size: number) {
    const { made } = this.#attempts
    const reinvited = this.#start.dialog
    const dialog = reinvited ?? this.#forks.answered(response, flow, made)
    if (!dialog) return
    if (this.#answered) return this.#repeated(dialog)
    this.#answered = dialog
    this.#forks.keepOnly(dialog)
    dialog.refresh(response, flow)
    this.#forks.note(dialog, response, made)
    dialog.answeredSeq = made.seq
    // A BYE of the application may have ended an early dialog (RFC 3261 15).
    if (!reinvited && !dialog.isEnded) {
      this.#context.dialogs.confirm(dialog)
      this.#context.cdrs.start(dialog, 'network', 'uac', response)
      dialog.mustEndAfterAck = this.#cancel !== undefined
    }
    this.#end()
    if (this.#isVoid) return this.#acknowledgeAndEnd(dialog, forked)
    if (!this.#app) return this.#acknowledgeAndEnd(dialog, abandoned)
    this.#deliver(plainAnswer(response, dialog), flow, size)
    // The dialog has ended, so an ACK of the application would be rejected: the agent sends the ACK itself.
    if (dialog.isEnded) this.#acknowledge(dialog)
  }

  /** Handles a further 2xx: a retransmission, or the answer of another fork (RFC 3261 13.2.2.4). */
  #repeated(dialog: Dialog) {
    if (dialog.repeatAck(this.#attempts.made.seq)) return
    if (dialog !== this.#answered) this.#acknowledgeAndEnd(dialog, forked)
    else if (dialog.isEnded) this.#acknowledge(dialog)
  }

  #failure(response: SipResponse, flow: Flow, size: number) {
    this.#forks.keepOnly(undefined)
    this.#end()
    this.#deliver(response, flow, size)
    this.#lost(response.status, 'network', response)
  }

  /**
   * Records a failed INVITE. Ends the call after a failed re-INVITE whose response shows that the call is
   * gone.
   */
  #lost(status: number, source: 'network' | 'application', response: SipResponse | Buffer) {
    const { dialog } = this.#start
    dialog?.offers.noteRequestEnd(this.#name)
    if (!dialog)
      this.#context.cdrs.refused(source, this.#cancel ? 'call-canceled' : 'call-rejected', response)
    else if (endsCall('INVITE', status)) hangUp(this.#context, dialog, goneReason(status))
  }

  #deliver(response: SipResponse, flow: Flow, size: number) {
    deliverResponse(this.#app, this.#start.txnId, this.dialogId, response, flow, size)
  }

  #acknowledge(dialog: Dialog) {
    sendAck(this.#context, dialog, { method: 'ACK', seq: this.#attempts.made.seq, headers: () => [] })
  }

  /**
   * Acknowledges and ends a call whose application has disconnected, or that was never delivered to an
   * application.
   */
  #acknowledgeAndEnd(dialog: Dialog, reason: string) {
    this.#acknowledge(dialog)
    if (dialog.isEnded) return
    this.#context.dialogs.remove(dialog)
    const headers = () => [['Reason', reason] as const]
    sendInDialog(this.#context, dialog, { method: 'BYE', headers }, ({ made }) =>
      this.#context.cdrs.stop(dialog, 'application', 'system-initiated-termination', made.bytes),
    )
  }

  #end() {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.stop()
    this.#forks.keepOnly(this.#answered)
    this.#releaseHolds()
    if (this.#start.dialog?.inviteTxn === this.#start.txnId) this.#start.dialog.inviteTxn = undefined
    this.#start.done()
  }

  #releaseHolds() {
    const { holds } = this.#start
    const dialog = this.#answered
    if (!holds) return
    if (dialog && !dialog.isEnded) dialog.whenEnded(() => holds.release())
    else holds.release()
  }
}

/** Returns the RSeq of a reliable provisional response (RFC 3262 7.1); undefined for other responses. */
const rseqOf = (response: SipResponse): number | undefined => {
  const text = response.headers.first('rseq')?.trim() ?? ''
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

/**
 * Returns the 2xx in the form that drachtio-srf accepts. drachtio-srf takes only a 200 with a Contact as an
 * answer, and would leave other calls up for ever. An endpoint treats every 2xx as 200 (RFC 3261 8.1.3.2). A
 * missing or malformed Contact is replaced by the remote target of the dialog.
 */
const plainAnswer = (response: SipResponse, dialog: Dialog): SipResponse => {
  if (contactOf(response) === undefined) response.headers.replace('Contact', `<${dialog.target}>`)
  return response.status === 200 ? response : { ...response, status: 200 }
}

/** Ends a call whose CANCEL crossed the 2xx, after its ACK. */
export const endCrossed = (context: Context, dialog: Dialog): void => hangUp(context, dialog, crossed)
