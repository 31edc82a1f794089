import { randomUUID } from 'node:crypto'
import type { Timer } from '../../clock.ts'
import { contactOf, Dialog, dialogId, recordRoute, withTag } from '../dialog/dialog.ts'
import type { App } from '../drachtio/app.ts'
import type { Apps } from '../drachtio/apps.ts'
import { SipParseError } from '../message/error.ts'
import type { RawResponse, SipRequest } from '../message/message.ts'
import { serialiseMessage } from '../message/serialise.ts'
import type { ServerSide } from '../transaction/transactions.ts'
import type { Answers } from './answers.ts'
import {
  type AppHeader,
  appHeaders,
  contentType,
  forbidden,
  has,
  ownContact,
  replaceLocalhost,
  requires,
} from './app-headers.ts'
import { cancelOf, deliverCancel } from './cancelled.ts'
import { type Context, newTag } from './context.ts'
import { carriesContact } from './in-dialog.ts'
import { makeReply, type Reply, type ReplyBase, replyBase } from './replies.ts'
import { ownOf } from './requests.ts'

/** A request that waits for the application's final answer. */
export interface Waiting {
  readonly txnId: string
  readonly request: SipRequest
  readonly side: ServerSide
  readonly base: ReplyBase
  readonly app: App
  /** The dialog that it came in, or made. */
  dialog: Dialog | undefined
  /** True where it came within a dialog. */
  readonly inDialog: boolean
  /** Our To tag. */
  tag: string
  /** True once the application has sent any response. */
  responded: boolean
  timer: Timer | undefined
}

const replyHeaders = new Set([...forbidden, 'from', 'to', 'call-id', 'cseq', 'content-type'])
const unknown = 'Response not sent due to unknown transaction'

/** Received requests that wait for an application, and the application's answers to them. */
export class Incoming {
  readonly #context: Context
  readonly #apps: Apps
  readonly #answers: Answers
  readonly #byTxn = new Map<string, Waiting>()
  readonly #bySide = new Map<string, Waiting>()

  constructor(context: Context, apps: Apps, answers: Answers) {
    this.#context = context
    this.#apps = apps
    this.#answers = answers
  }

  /** Requests that wait. */
  get size(): number {
    return this.#byTxn.size
  }

  /** Sends a response of the agent's own. */
  reply(request: SipRequest, side: ServerSide, reply: Reply) {
    const { userAgent } = this.#context
    const headers = userAgent ? [...(reply.headers ?? []), ['Server', userAgent] as const] : reply.headers
    const tag = reply.tag ?? newTag()
    if (reply.status >= 200) side.tag = tag
    side.machine.respond(reply.status, makeReply(replyBase(request), { ...reply, tag, headers }))
  }

  /** Hands a request outside dialogs to an application that wants it; 503 where none does. */
  offer(request: SipRequest, side: ServerSide, size: number) {
    if (side.invite) this.reply(request, side, { status: 100 })
    const app = this.#apps.choose(request.method.toLowerCase())
    if (!app) return this.reply(request, side, { status: 503 })
    this.#wait(request, side, app, undefined, size)
  }

  /** Hands a request of a dialog to the application that owns it. */
  offerInDialog(request: SipRequest, side: ServerSide, dialog: Dialog, size: number) {
    if (side.invite) this.reply(request, side, { status: 100 })
    if (!dialog.owner?.open) return this.reply(request, side, { status: 481 })
    if (side.invite) dialog.invited = true
    this.#wait(request, side, dialog.owner, dialog, size)
  }

  /** The request that a server transaction belongs to, while it waits. */
  of(side: ServerSide): Waiting | undefined {
    return this.#bySide.get(side.key)
  }

  /** The requests of a dialog that wait. */
  inDialog(dialog: Dialog): Waiting[] {
    if (dialog.waiting === 0) return []
    return [...this.#byTxn.values()].filter((waiting) => waiting.dialog === dialog)
  }

  /** The INVITE that made an early dialog, while it waits. */
  early(dialog: Dialog): Waiting | undefined {
    return [...this.#byTxn.values()].find((waiting) => waiting.dialog === dialog && !waiting.inDialog)
  }

  /** Ends the wait with a final response of the agent's own. */
  finish(waiting: Waiting, status: number, headers: readonly AppHeader[] = []) {
    if (!this.#byTxn.has(waiting.txnId)) return
    this.#forget(waiting)
    const { side, base, tag } = waiting
    side.machine.respond(status, makeReply(base, { status, tag, headers }))
    if (!waiting.inDialog && waiting.dialog) this.#context.dialogs.remove(waiting.dialog)
  }

  /** The application answers. */
  respond(app: App, msgId: string, txnId: string, raw: RawResponse) {
    const waiting = this.#byTxn.get(txnId)
    if (!waiting || waiting.app !== app) return app.nok(msgId, unknown)
    if (raw.status < 200 && requires(raw.headers, '100rel')) {
      return app.nok(msgId, 'Remote endpoint does not support 100rel')
    }
    if (waiting.side.flow.closed) {
      this.finish(waiting, 500)
      return app.nok(msgId, 'transport for response has been shutdown or closed')
    }
    const bytes = this.#make(waiting, raw)
    if (!bytes) {
      this.finish(waiting, 500)
      return app.nok(msgId, 'Unknown server error sending response')
    }
    this.#send(waiting, raw, bytes, app, msgId)
  }

  /** The application is gone: what it has not answered is refused. */
  lost(app: App) {
    for (const waiting of [...this.#byTxn.values()]) if (waiting.app === app) this.finish(waiting, 503)
  }

  /** Forgets everything without a word. */
  close() {
    for (const waiting of this.#byTxn.values()) waiting.timer?.cancel()
    this.#byTxn.clear()
    this.#bySide.clear()
  }

  #wait(request: SipRequest, side: ServerSide, app: App, dialog: Dialog | undefined, size: number) {
    const waiting: Waiting = {
      txnId: randomUUID(),
      request,
      side,
      base: replyBase(request),
      app,
      dialog,
      inDialog: dialog !== undefined,
      tag: newTag(),
      responded: false,
      timer: undefined,
    }
    const { clock, timers } = this.#context
    // An application that says nothing at all: the sender is not left waiting for ever.
    const longest = side.invite ? timers.ringing : timers.answer
    waiting.timer = clock.after(longest, () => this.#expire(waiting))
    this.#byTxn.set(waiting.txnId, waiting)
    this.#bySide.set(side.key, waiting)
    if (dialog) dialog.waiting++
    app.deliver({
      source: 'network',
      size,
      from: side.flow.remote,
      txnId: waiting.txnId,
      dialogId: dialog?.id ?? '',
      local: dialog ? undefined : side.flow.local,
      message: serialiseMessage(request),
    })
  }

  /** The application took too long. It is told as of a caller who gave up: what it holds for the call can go. */
  #expire(waiting: Waiting) {
    const { request, side, inDialog } = waiting
    this.finish(waiting, side.invite ? 480 : 500)
    if (side.invite && !inDialog) deliverCancel(waiting, cancelOf(request), side.flow, 0)
  }

  #forget(waiting: Waiting) {
    waiting.side.tag = waiting.tag
    waiting.timer?.cancel()
    this.#byTxn.delete(waiting.txnId)
    this.#bySide.delete(waiting.side.key)
    if (!waiting.inDialog || !waiting.dialog) return
    waiting.dialog.waiting--
    if (waiting.side.invite) waiting.dialog.invited = false
  }

  /** Puts the application's response into bytes; undefined where one of its headers is broken. */
  #make(waiting: Waiting, raw: RawResponse): Buffer | undefined {
    const { request, side } = waiting
    const own = ownOf(side.flow, this.#context)
    const type = contentType(raw)
    if (type === undefined) return undefined
    try {
      if (!waiting.responded && !waiting.base.tagged) {
        waiting.tag = /;\s*tag=([^;\s]+)/i.exec(raw.headers.first('to') ?? '')?.[1] ?? waiting.tag
      }
      const headers = appHeaders(raw.headers, own, replyHeaders)
      const makesDialog = raw.status > 100 && raw.status < 300 && carriesContact.has(request.method)
      if (makesDialog && request.method !== 'NOTIFY' && !has(headers, 'Contact')) {
        headers.unshift(['Contact', waiting.dialog?.localContact || ownContact(own)])
      }
      if (type !== '') headers.push(['Content-Type', type])
      const { userAgent } = this.#context
      if (userAgent && !has(headers, 'Server') && !has(headers, 'User-Agent'))
        headers.push(['Server', userAgent])
      const { status, reason, body } = raw
      return makeReply(waiting.base, {
        status,
        reason,
        tag: status > 100 ? waiting.tag : undefined,
        headers,
        body,
      })
    } catch (error) {
      if (error instanceof SipParseError) return undefined
      throw error
    }
  }

  #send(waiting: Waiting, raw: RawResponse, bytes: Buffer, app: App, msgId: string) {
    const { side, request, txnId } = waiting
    const { clock, timers } = this.#context
    const maker = request.method === 'INVITE' || request.method === 'SUBSCRIBE'
    if (!waiting.inDialog && maker && raw.status > 100 && raw.status < 300) this.#early(waiting, raw)
    const id =
      maker && !waiting.dialog ? dialogId(request.callId, request.fromTag) : (waiting.dialog?.id ?? '')
    waiting.responded = true
    side.machine.respond(raw.status, bytes)
    app.responseSent(msgId, side.flow.remote, txnId, waiting.dialog?.ended ? '' : id, bytes)
    if (raw.status < 200) {
      waiting.timer?.cancel()
      waiting.timer = clock.after(timers.early, () => this.#expire(waiting))
      return
    }
    this.#forget(waiting)
    if (raw.status < 300) this.#accepted(waiting, bytes)
    else if (!waiting.inDialog && waiting.dialog) this.#context.dialogs.remove(waiting.dialog)
  }

  #accepted(waiting: Waiting, bytes: Buffer) {
    const { dialog, request, side, inDialog, txnId } = waiting
    if (!dialog) return
    if (!inDialog) this.#context.dialogs.confirm(dialog)
    else if (request.method === 'INVITE' || request.method === 'UPDATE') dialog.refresh(request, side.flow)
    // An ACK of a re-INVITE is told under an id of its own.
    if (side.invite) this.#answers.add(dialog, request.seq, bytes, side.flow, inDialog ? randomUUID() : txnId)
    if (request.method === 'NOTIFY' && endsSubscription(request, dialog)) this.#context.dialogs.remove(dialog)
  }

  /** The dialog that a response makes (RFC 3261 12.1.1); once for each request. */
  #early(waiting: Waiting, raw: RawResponse) {
    if (waiting.dialog) return
    const { request, side, tag } = waiting
    const own = ownOf(side.flow, this.#context)
    const given = raw.headers.first('contact')
    waiting.dialog = new Dialog({
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
      target: contactOf(request) ?? request.from.uri,
      owner: waiting.app,
      subscription: request.method === 'SUBSCRIBE',
    })
    this.#context.dialogs.add(waiting.dialog)
  }
}

/** RFC 6665 4.1.2: a NOTIFY that says `terminated` ends the dialog of a subscription, not that of a call. */
const endsSubscription = (request: SipRequest, dialog: Dialog): boolean =>
  dialog.subscription && /^terminated\b/i.test(request.headers.first('subscription-state') ?? '')
