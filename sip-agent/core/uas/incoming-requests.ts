import { randomUUID } from 'node:crypto'
import type { Dialog } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { AppFinder } from '../../drachtio/app-finder.ts'
import type { RawResponse, SipRequest } from '../../message/message.ts'
import { serialiseMessage } from '../../message/serialise.ts'
import type { ServerEntry } from '../../transaction/transactions.ts'
import type { AppHeader } from '../app-headers.ts'
import type { CdrEnd } from '../cdr.ts'
import { type Context, newTag } from '../context.ts'
import { AppResponses } from './app-responses.ts'
import { cancelOf, deliverCancel } from './cancelled.ts'
import { type PendingRequest, PendingRequests } from './pending-requests.ts'
import { noteReceivedRequest, noteSentResponse } from './received-descriptions.ts'
import { LatePracks } from './reliable-responses.ts'
import { makeResponse, type ResponseOptions, type ResponseTemplate, responseTemplate } from './responses.ts'
import type { Unacked2xx } from './unacked-2xx.ts'

/**
 * Retry-After, in seconds, of a request that was rejected because no application or no room was available.
 */
export const retryAfter: AppHeader = ['Retry-After', '5']

/** Options of a final response from the agent itself. */
export interface FinishOptions {
  readonly headers?: readonly AppHeader[]
  /** Reason for the end in the call record. Default: a failure of the agent or its application. */
  readonly end?: CdrEnd
}

const failed: CdrEnd = 'system-error-initiated-termination'

/** Received requests: chooses their applications, and handles responses and timeouts. */
export class IncomingRequests {
  readonly #context: Context
  readonly #apps: Pick<AppFinder, 'find'>
  readonly #responses: AppResponses
  /** Requests that wait for an application. */
  readonly pending = new PendingRequests()
  /** PRACKs that arrive after the end of their INVITE. */
  readonly latePracks: LatePracks

  constructor(context: Context, apps: Pick<AppFinder, 'find'>, answers: Unacked2xx) {
    this.#context = context
    this.#apps = apps
    this.latePracks = new LatePracks(context)
    this.#responses = new AppResponses({ context, answers, room: this.pending, ends: this })
  }

  /** Number of pending requests. */
  get size(): number {
    return this.pending.size
  }

  /** Sends a response from the agent itself. */
  reply(request: SipRequest, side: ServerEntry, reply: ResponseOptions) {
    const tag = reply.tag ?? newTag()
    if (reply.status >= 200) side.tag = tag
    // Unsupported is the only header of the response that names the fault.
    const wanted = reply.headers?.find(([name]) => name === 'Unsupported')
    if (reply.status >= 300) this.#refused(request, side, reply.status, wanted?.[1])
    side.machine.respond(reply.status, this.#make(responseTemplate(request), { ...reply, tag }))
  }

  /**
   * Delivers a request outside dialogs to an application that routes its method. Responds 503 if there is no
   * such application.
   */
  offer(request: SipRequest, side: ServerEntry, size: number) {
    const waiting = this.#wait(request, side, undefined)
    if (side.isInvite) this.#context.cdrs.attempt('network', request)
    this.#apps.find(request.method, (app, status) => {
      if (this.pending.get(waiting.txnId) !== waiting) return app?.closeIfDedicated()
      if (!app) return this.finish(waiting, status, { headers: status === 503 ? [retryAfter] : [] })
      waiting.app = app
      this.#deliver(waiting, app, size)
    })
  }

  /** Delivers a request of a dialog to the application that owns it. */
  offerInDialog(request: SipRequest, side: ServerEntry, dialog: Dialog, size: number) {
    const { owner } = dialog
    if (!owner?.isOpen) return this.reply(request, side, { status: 481 })
    const waiting = this.#wait(request, side, dialog)
    waiting.app = owner
    noteReceivedRequest(dialog, request)
    this.#deliver(waiting, owner, size)
  }

  /** Handles a retransmission: repeats the last response, or sends the 100 that is due. */
  retransmitted(side: ServerEntry) {
    const waiting = this.pending.of(side)
    if (waiting && side.isInvite && !waiting.hasProvisional) this.#trying(waiting)
    else side.machine.retransmitted()
  }

  /** Ends a pending request with a final response from the agent itself. */
  finish(waiting: PendingRequest, status: number, { headers = [], end = failed }: FinishOptions = {}) {
    if (!this.settle(waiting)) return
    noteSentResponse(waiting, status, false)
    const { side, base, tag, dialog, isInDialog } = waiting
    // 487 ends a request that its sender cancelled, and is no rejection.
    if (status >= 300 && status !== 487) this.#refused(waiting.request, side, status)
    const bytes = this.#make(base, { status, tag, headers })
    side.machine.respond(status, bytes)
    if (isInDialog) return
    if (side.isInvite)
      this.#context.cdrs.refused(end === 'call-canceled' ? 'network' : 'application', end, bytes)
    if (dialog) this.#context.dialogs.remove(dialog)
  }

  /** Ends a call with a final response, and delivers a CANCEL to the application. */
  abandon(waiting: PendingRequest, status: number) {
    this.finish(waiting, status)
    deliverCancel(waiting, cancelOf(waiting.request, `SIP;cause=${status}`), waiting.side.flow, 0)
  }

  /**
   * Removes a request from the pending requests, before its final response. Returns false if the request was
   * already removed.
   */
  settle(waiting: PendingRequest): boolean {
    if (!this.pending.delete(waiting)) return false
    const { side, tag, request, reliable } = waiting
    side.tag = tag
    if (reliable?.isAwaitingPrack) this.latePracks.add(request, tag, reliable.rseq)
    reliable?.stop()
    return true
  }

  /** Handles a response of the application. */
  respond(app: App, msgId: string, txnId: string, raw: RawResponse) {
    this.#responses.respond(app, msgId, txnId, raw)
  }

  /** Rejects the pending requests of a lost application. A pending BYE still ends its call. */
  lost(app: App) {
    for (const waiting of this.pending.ofApp(app)) {
      this.finish(waiting, waiting.request.method === 'BYE' ? 200 : 503)
    }
  }

  /** Drops all requests. */
  close() {
    this.pending.clear()
    this.latePracks.close()
  }

  #wait(request: SipRequest, side: ServerEntry, dialog: Dialog | undefined): PendingRequest {
    const { clock, timers } = this.#context
    const waiting: PendingRequest = {
      txnId: randomUUID(),
      request,
      side,
      base: responseTemplate(request),
      app: undefined,
      dialog,
      isInDialog: dialog !== undefined,
      since: clock.now(),
      tag: newTag(),
      hasProvisional: false,
      hasResponse: false,
      isSettled: false,
      hasDescription: false,
      reliable: undefined,
      limit: undefined,
      progress: undefined,
    }
    // The sender must not wait for ever if the application does not answer.
    const longest = side.isInvite ? timers.ringing : timers.answer
    waiting.limit = clock.after(longest, () => this.#expire(waiting))
    // RFC 3261 17.2.1: the 100 is delayed, and not sent if a response follows at once. A spoofed INVITE then
    // causes one packet only.
    if (side.isInvite) waiting.progress = clock.after(timers.trying, () => this.#trying(waiting))
    this.pending.add(waiting)
    return waiting
  }

  #deliver(waiting: PendingRequest, app: App, size: number) {
    const { side, dialog, request, txnId } = waiting
    app.deliver({
      source: 'network',
      size,
      from: side.flow.remote,
      txnId,
      dialogId: dialog?.id ?? '',
      local: dialog ? undefined : side.flow.local,
      message: serialiseMessage(request),
    })
  }

  #trying(waiting: PendingRequest) {
    waiting.hasProvisional = true
    waiting.progress?.cancel()
    const delay = this.#context.clock.now() - waiting.since
    waiting.side.machine.respond(100, this.#make(waiting.base, { status: 100, delay }))
  }

  /**
   * Ends a request that the application has not answered in time. The application receives a CANCEL, so that
   * it can release its resources.
   */
  #expire(waiting: PendingRequest) {
    if (waiting.side.isInvite) this.abandon(waiting, 480)
    else this.finish(waiting, 500)
  }

  #refused(request: SipRequest, { flow }: ServerEntry, status: number, detail?: string) {
    this.#context.refusals.add(status, request, flow.remote.address, detail)
  }

  #make(base: ResponseTemplate, reply: ResponseOptions): Buffer {
    const { userAgent } = this.#context
    if (!userAgent || reply.status === 100) return makeResponse(base, reply)
    return makeResponse(base, { ...reply, headers: [...(reply.headers ?? []), ['Server', userAgent]] })
  }
}
