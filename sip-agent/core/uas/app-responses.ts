import { randomUUID } from 'node:crypto'
import { contactOf, Dialog, dialogId, recordRoute, withTag } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { RawResponse, SipRequest } from '../../message/message.ts'
import { targetRefreshMethods } from '../../message/methods.ts'
import { hasDescription } from '../../message/session-description.ts'
import { farEndOf } from '../../reach/far-end.ts'
import { offenseKey, ownContact, replaceLocalhost, unverifiedKey } from '../app-headers.ts'
import type { Context } from '../context.ts'
import { optionTags } from '../options.ts'
import { ownAddressFor } from '../requests.ts'
import { expiresOf, terminates } from '../subscriptions.ts'
import { type AppReply, makeAppReply } from './app-reply.ts'
import type { PendingRequest, PendingRequests } from './pending-requests.ts'
import { noteReceivedRequest, noteSentResponse } from './received-descriptions.ts'
import { ReliableResponses } from './reliable-responses.ts'
import { responseSender } from './response-sender.ts'
import type { Unacked2xx } from './unacked-2xx.ts'

const unknown = 'Response not sent due to unknown transaction'
const over = 'Response not sent as its dialog has ended'

/** Functions that end a pending request. */
export interface RequestEndings {
  /** Removes a request from the pending requests, before its final response. */
  settle(waiting: PendingRequest): boolean
  /** Ends the request with a final response from the agent itself. */
  finish(waiting: PendingRequest, status: number): void
  /** Ends the request, and delivers a CANCEL to the application. */
  abandon(waiting: PendingRequest, status: number): void
}

/** Applications' responses to received requests: sent, held until a PRACK arrives, or rejected. */
export class AppResponses {
  readonly #context: Context
  readonly #answers: Unacked2xx
  readonly #room: PendingRequests
  readonly #ends: RequestEndings

  constructor(options: {
    context: Context
    answers: Unacked2xx
    room: PendingRequests
    ends: RequestEndings
  }) {
    this.#context = options.context
    this.#answers = options.answers
    this.#room = options.room
    this.#ends = options.ends
  }

  /** Handles a response frame of an application. */
  respond(app: App, msgId: string, txnId: string, raw: RawResponse) {
    const waiting = this.#room.get(txnId)
    if (!waiting || waiting.app !== app || waiting.isSettled) return app.reject(msgId, unknown)
    const kind = kindOf(waiting, raw)
    if (kind === 'unsupported') return app.reject(msgId, 'Remote endpoint does not support 100rel')
    if (tooLate(waiting, raw.status)) {
      this.#ends.finish(waiting, 487)
      return app.reject(msgId, over)
    }
    if (raw.status >= 200) waiting.isSettled = true
    const send = () => this.#send(waiting, app, msgId, raw, kind === 'reliable')
    if (!mustWait(waiting, raw.status, kind === 'reliable')) return send()
    const held = waiting.reliable?.hold({ send, drop: () => app.reject(msgId, unknown) })
    if (held) return
    waiting.isSettled = false
    app.reject(msgId, 'too many responses wait for a PRACK')
  }

  #send(waiting: PendingRequest, app: App, msgId: string, raw: RawResponse, reliable: boolean) {
    const { side, request, txnId } = waiting
    if (!this.#context.transports.back(side.flow, request.via)) {
      this.#ends.finish(waiting, 500)
      return app.reject(msgId, 'transport for response has been shutdown or closed')
    }
    const made = this.#make(waiting, raw, reliable)
    if (!made) {
      this.#ends.finish(waiting, 500)
      return app.reject(msgId, 'Unknown server error sending response')
    }
    this.#note(waiting, raw, made)
    if (raw.status >= 200) this.#ends.settle(waiting)
    side.machine.respond(raw.status, made.bytes)
    const shown = waiting.dialog?.isEnded ? '' : shownId(waiting, request)
    app.responseSent(msgId, side.flow.remote, txnId, shown, made.bytes)
    if (raw.status < 200) this.#provisional(waiting, raw.status, made.bytes, reliable)
    else if (raw.status < 300) this.#accepted(waiting, raw, made.bytes)
    else this.#refused(waiting, made.bytes)
  }

  #make(waiting: PendingRequest, raw: RawResponse, reliable: boolean): AppReply | undefined {
    if (reliable) waiting.reliable ??= this.#reliableOf(waiting)
    const rseq = reliable ? waiting.reliable?.next() : undefined
    return makeAppReply(this.#context, waiting, raw, rseq)
  }

  #reliableOf(waiting: PendingRequest): ReliableResponses {
    // RFC 3262 3: a call is rejected with a 5xx if no PRACK arrives.
    return new ReliableResponses(this.#context, () => this.#ends.abandon(waiting, 504))
  }

  /** Updates the state before a response is sent. */
  #note(waiting: PendingRequest, raw: RawResponse, made: AppReply) {
    waiting.tag = made.tag
    waiting.hasResponse ||= raw.status > 100
    waiting.hasProvisional = true
    waiting.side.isOffense = raw.status >= 300 && raw.headers.first(offenseKey) !== undefined
    waiting.side.isPeerUnverified = raw.headers.first(unverifiedKey) !== undefined
    const makes = !waiting.isInDialog && isMaker(waiting.request) && raw.status > 100 && raw.status < 300
    if (makes && !waiting.dialog) this.#early(waiting, raw)
    // The application may name the far end only with its response.
    else if (makes && waiting.dialog) waiting.dialog.farEnd = farEndOf(raw.headers) ?? waiting.dialog.farEnd
    noteSentResponse(waiting, raw.status, hasDescription(raw))
  }

  #provisional(waiting: PendingRequest, status: number, bytes: Buffer, reliable: boolean) {
    // A provisional response does not extend the time for a request other than INVITE (RFC 4320).
    if (!waiting.side.isInvite) return
    const { clock, timers } = this.#context
    const { machine } = waiting.side
    waiting.limit?.cancel()
    waiting.limit = clock.after(timers.early, () => this.#ends.abandon(waiting, 480))
    waiting.progress?.cancel()
    if (reliable) {
      waiting.reliable?.sent(() => machine.respond(status, bytes), waiting.side.isPeerUnverified)
    } else if (status > 100) {
      // RFC 3261 13.3.1.1: proxies end a call after three minutes without a provisional response. A reliable
      // response is not repeated. With its old RSeq the caller would drop it as a duplicate. With a new RSeq
      // it would be a response that the application never sent.
      const again = () => {
        machine.respond(status, bytes)
        waiting.progress = clock.after(timers.progress, again)
      }
      waiting.progress = clock.after(timers.progress, again)
    }
  }

  #accepted(waiting: PendingRequest, raw: RawResponse, bytes: Buffer) {
    const { dialog, request, side, isInDialog, txnId } = waiting
    const { dialogs, registeredFlows, subscriptions, cdrs } = this.#context
    registeredFlows.learn(request, raw, side.flow)
    // If the application has ended the dialog, the dialog must not be confirmed. The 2xx must not be
    // retransmitted either, as no ACK could stop it.
    if (!dialog || dialog.isEnded) return
    if (!isInDialog) dialogs.confirm(dialog)
    else if (targetRefreshMethods.has(request.method)) dialog.refresh(request, side.flow)
    if (request.method === 'SUBSCRIBE') {
      subscriptions.granted(dialog, expiresOf(raw.headers) ?? expiresOf(request.headers))
    }
    if (side.isInvite && !isInDialog) cdrs.start(dialog, 'application', 'uas', bytes)
    // The ACK of a re-INVITE is delivered under a new transaction id.
    if (side.isInvite) {
      const send = responseSender(this.#context.transports, request, side.flow)
      this.#answers.add({
        dialog,
        seq: request.seq,
        bytes,
        send,
        txnId: isInDialog ? randomUUID() : txnId,
        isPeerUnverified: side.isPeerUnverified,
      })
    }
    if (request.method === 'NOTIFY' && dialog.isSubscription && terminates(request.headers))
      dialogs.remove(dialog)
  }

  #refused({ isInDialog, side, dialog }: PendingRequest, bytes: Buffer) {
    if (isInDialog) return
    if (side.isInvite) this.#context.cdrs.refused('application', 'call-rejected', bytes)
    if (dialog) this.#context.dialogs.remove(dialog)
  }

  /** Creates the dialog of a response (RFC 3261 12.1.1), once for each request. */
  #early(waiting: PendingRequest, raw: RawResponse) {
    const { request, side, tag } = waiting
    const own = ownAddressFor(side.flow, this.#context)
    const given = raw.headers.first('contact')
    const dialog = new Dialog({
      id: dialogId(request.callId, request.fromTag),
      callId: request.callId,
      localTag: tag,
      remoteTag: request.fromTag,
      localAddress: withTag(request.to, tag),
      remoteAddress: request.headers.first('from') ?? '',
      routeSet: recordRoute(request),
      localSeq: request.seq,
      remoteSeq: request.seq,
      localContact: given === undefined ? ownContact(own) : replaceLocalhost('contact', given, own),
      flow: side.flow,
      farEnd: farEndOf(raw.headers),
      isPeerUnverified: side.isPeerUnverified,
      target: contactOf(request) ?? request.from.uri,
      owner: waiting.app,
      isSubscription: request.method === 'SUBSCRIBE',
    })
    this.#room.bind(waiting, dialog)
    this.#context.dialogs.add(dialog)
    noteReceivedRequest(dialog, request)
  }
}

const isMaker = (request: SipRequest): boolean =>
  request.method === 'INVITE' || request.method === 'SUBSCRIBE'

/**
 * Returns the dialog id for the application. A request that may create a dialog has an id before the dialog
 * exists.
 */
const shownId = (waiting: PendingRequest, request: SipRequest): string => {
  if (waiting.dialog) return waiting.dialog.id
  return isMaker(request) ? dialogId(request.callId, request.fromTag) : ''
}

/**
 * Returns the kind of a provisional response (RFC 3262 3). It is reliable if the application or the caller
 * requires it, and never for a 100. `unsupported`: the application requires it and the caller does not
 * support it.
 */
const kindOf = (
  { request, side }: PendingRequest,
  raw: RawResponse,
): 'plain' | 'reliable' | 'unsupported' => {
  if (!side.isInvite || raw.status <= 100 || raw.status >= 200) return 'plain'
  if (optionTags(request.headers, 'require').has('100rel')) return 'reliable'
  if (!optionTags(raw.headers, 'require').has('100rel')) return 'plain'
  return optionTags(request.headers, 'supported').has('100rel') ? 'reliable' : 'unsupported'
}

/**
 * Returns whether the application has already ended the early dialog by a BYE. A 2xx would then create a call
 * without an owner.
 */
const tooLate = ({ side, isInDialog, dialog }: PendingRequest, status: number): boolean =>
  side.isInvite && !isInDialog && status >= 200 && status < 300 && dialog?.isEnded === true

/**
 * Returns whether a response must wait for the PRACK of the previous response. A reliable response and a 2xx
 * wait (RFC 3262 3 and 5). So does any response that follows a waiting response. A rejection never waits.
 */
const mustWait = ({ reliable }: PendingRequest, status: number, isReliable: boolean): boolean => {
  if (!reliable || status >= 300) return false
  return reliable.hasHeld || (reliable.isAwaitingPrack && (isReliable || status >= 200))
}
