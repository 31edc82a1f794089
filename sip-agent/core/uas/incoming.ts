import { randomUUID } from 'node:crypto'
import type { Dialog } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { AppFinder } from '../../drachtio/handlers.ts'
import type { RawResponse, SipRequest } from '../../message/message.ts'
import { serialiseMessage } from '../../message/serialise.ts'
import type { ServerSide } from '../../transaction/transactions.ts'
import type { AppHeader } from '../app-headers.ts'
import type { CdrEnd } from '../cdr.ts'
import { type Context, newTag } from '../context.ts'
import { noteRequest, noteResponse } from '../session.ts'
import type { Answers } from './answers.ts'
import { AppResponses } from './app-responses.ts'
import { cancelOf, deliverCancel } from './cancelled.ts'
import { LatePracks } from './reliable.ts'
import { makeReply, type Reply, type ReplyBase, replyBase } from './replies.ts'
import { type Waiting, WaitingRoom } from './waiting.ts'

/** Seconds after which one who was refused for want of an application or of room may try again. */
export const retryAfter: AppHeader = ['Retry-After', '5']

/** How the agent itself ends a wait. */
export interface Ending {
  readonly headers?: readonly AppHeader[]
  /** What the records say of a call. Default: that the agent's side failed. */
  readonly end?: CdrEnd
}

const failed: CdrEnd = 'system-error-initiated-termination'

/** Received requests on their way to an application and back: who gets them, and how their wait ends. */
export class Incoming {
  readonly #context: Context
  readonly #apps: Pick<AppFinder, 'find'>
  readonly #responses: AppResponses
  /** What waits for an application. */
  readonly room = new WaitingRoom()
  /** PRACKs that come after the end of their INVITE. */
  readonly latePracks: LatePracks

  constructor(context: Context, apps: Pick<AppFinder, 'find'>, answers: Answers) {
    this.#context = context
    this.#apps = apps
    this.latePracks = new LatePracks(context)
    this.#responses = new AppResponses({ context, answers, room: this.room, ends: this })
  }

  /** Requests that wait. */
  get size(): number {
    return this.room.size
  }

  /** Sends a response of the agent's own. */
  reply(request: SipRequest, side: ServerSide, reply: Reply) {
    const tag = reply.tag ?? newTag()
    if (reply.status >= 200) side.tag = tag
    // Of the headers only this one says what was wrong.
    const wanted = reply.headers?.find(([name]) => name === 'Unsupported')
    if (reply.status >= 300) this.#refused(request, side, reply.status, wanted?.[1])
    side.machine.respond(reply.status, this.#make(replyBase(request), { ...reply, tag }))
  }

  /** Hands a request outside dialogs to an application that wants it; 503 where none does. */
  offer(request: SipRequest, side: ServerSide, size: number) {
    const waiting = this.#wait(request, side, undefined)
    if (side.invite) this.#context.cdrs.attempt('network', request)
    this.#apps.find(request.method, (app, status) => {
      if (this.room.get(waiting.txnId) !== waiting) return app?.unwanted()
      if (!app) return this.finish(waiting, status, { headers: status === 503 ? [retryAfter] : [] })
      waiting.app = app
      this.#deliver(waiting, app, size)
    })
  }

  /** Hands a request of a dialog to the application that owns it. */
  offerInDialog(request: SipRequest, side: ServerSide, dialog: Dialog, size: number) {
    const { owner } = dialog
    if (!owner?.open) return this.reply(request, side, { status: 481 })
    const waiting = this.#wait(request, side, dialog)
    waiting.app = owner
    noteRequest(dialog, request)
    this.#deliver(waiting, owner, size)
  }

  /** A request came again: its last response does, or the 100 that has not been sent yet. */
  retransmitted(side: ServerSide) {
    const waiting = this.room.of(side)
    if (waiting && side.invite && !waiting.tried) this.#trying(waiting)
    else side.machine.retransmitted()
  }

  /** Ends the wait with a final response of the agent's own. */
  finish(waiting: Waiting, status: number, { headers = [], end = failed }: Ending = {}) {
    if (!this.settle(waiting)) return
    noteResponse(waiting, status, false)
    const { side, base, tag, dialog, inDialog } = waiting
    // 487 is the end of what the sender gave up.
    if (status >= 300 && status !== 487) this.#refused(waiting.request, side, status)
    const bytes = this.#make(base, { status, tag, headers })
    side.machine.respond(status, bytes)
    if (inDialog) return
    if (side.invite)
      this.#context.cdrs.refused(end === 'call-canceled' ? 'network' : 'application', end, bytes)
    if (dialog) this.#context.dialogs.remove(dialog)
  }

  /** Ends the wait of a caller for whom nothing more can be done, and tells the application as of one who gave up. */
  abandon(waiting: Waiting, status: number) {
    this.finish(waiting, status)
    deliverCancel(waiting, cancelOf(waiting.request, `SIP;cause=${status}`), waiting.side.flow, 0)
  }

  /** Takes a request out of the waiting room, before its final response; false where it has left before. */
  settle(waiting: Waiting): boolean {
    if (!this.room.delete(waiting)) return false
    const { side, tag, request, reliable } = waiting
    side.tag = tag
    if (reliable?.open) this.latePracks.add(request, tag, reliable.rseq)
    reliable?.stop()
    return true
  }

  /** The application answers. */
  respond(app: App, msgId: string, txnId: string, raw: RawResponse) {
    this.#responses.respond(app, msgId, txnId, raw)
  }

  /** The application is gone: what it has not answered is refused. A BYE has ended its call all the same. */
  lost(app: App) {
    for (const waiting of this.room.ofApp(app)) {
      this.finish(waiting, waiting.request.method === 'BYE' ? 200 : 503)
    }
  }

  /** Forgets everything without a word. */
  close() {
    this.room.clear()
    this.latePracks.close()
  }

  #wait(request: SipRequest, side: ServerSide, dialog: Dialog | undefined): Waiting {
    const { clock, timers } = this.#context
    const waiting: Waiting = {
      txnId: randomUUID(),
      request,
      side,
      base: replyBase(request),
      app: undefined,
      dialog,
      inDialog: dialog !== undefined,
      since: clock.now(),
      tag: newTag(),
      tried: false,
      responded: false,
      settled: false,
      described: false,
      reliable: undefined,
      limit: undefined,
      progress: undefined,
    }
    // An application that says nothing at all: the sender is not left waiting for ever.
    const longest = side.invite ? timers.ringing : timers.answer
    waiting.limit = clock.after(longest, () => this.#expire(waiting))
    // RFC 3261 17.2.1: no 100 where an answer follows at once; so one who forged the source draws one packet with a refusal.
    if (side.invite) waiting.progress = clock.after(timers.trying, () => this.#trying(waiting))
    this.room.add(waiting)
    return waiting
  }

  #deliver(waiting: Waiting, app: App, size: number) {
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

  #trying(waiting: Waiting) {
    waiting.tried = true
    waiting.progress?.cancel()
    const delay = this.#context.clock.now() - waiting.since
    waiting.side.machine.respond(100, this.#make(waiting.base, { status: 100, delay }))
  }

  /** The application took too long. It is told as of a caller who gave up: what it holds for the call can go. */
  #expire(waiting: Waiting) {
    if (waiting.side.invite) this.abandon(waiting, 480)
    else this.finish(waiting, 500)
  }

  #refused(request: SipRequest, { flow }: ServerSide, status: number, detail?: string) {
    this.#context.refusals.add(status, request, flow.remote.address, detail)
  }

  #make(base: ReplyBase, reply: Reply): Buffer {
    const { userAgent } = this.#context
    if (!userAgent || reply.status === 100) return makeReply(base, reply)
    return makeReply(base, { ...reply, headers: [...(reply.headers ?? []), ['Server', userAgent]] })
  }
}
