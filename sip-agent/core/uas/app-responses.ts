import { randomUUID } from 'node:crypto'
import { contactOf, Dialog, dialogId, recordRoute, withTag } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { RawResponse, SipRequest } from '../../message/message.ts'
import { farEndOf } from '../../reach/far-end.ts'
import { offenceKey, ownContact, replaceLocalhost, unconfirmedKey } from '../app-headers.ts'
import type { Context } from '../context.ts'
import { optionTags } from '../options.ts'
import { ownOf } from '../requests.ts'
import { describes, noteRequest, noteResponse } from '../session.ts'
import { expiresOf, terminates } from '../subscriptions.ts'
import { carriesContact } from '../uac/in-dialog.ts'
import type { Answers } from './answers.ts'
import { type Delivered, makeAppReply } from './app-reply.ts'
import { ReliableResponses } from './reliable.ts'
import type { Waiting, WaitingRoom } from './waiting.ts'
import { wayBack } from './way-back.ts'

const unknown = 'Response not sent due to unknown transaction'
const over = 'Response not sent as its dialog has ended'

/** How a wait ends. */
export interface Ends {
  /** Takes a request out of the waiting room, before its final response. */
  settle(waiting: Waiting): boolean
  /** Ends the wait with a final response of the agent's own. */
  finish(waiting: Waiting, status: number): void
  /** The same, and the application is told as of a caller who gave up. */
  abandon(waiting: Waiting, status: number): void
}

/** The applications' responses to received requests: sent, held back until a PRACK is there, or refused. */
export class AppResponses {
  readonly #context: Context
  readonly #answers: Answers
  readonly #room: WaitingRoom
  readonly #ends: Ends

  constructor(options: { context: Context; answers: Answers; room: WaitingRoom; ends: Ends }) {
    this.#context = options.context
    this.#answers = options.answers
    this.#room = options.room
    this.#ends = options.ends
  }

  /** A response frame of an application. */
  respond(app: App, msgId: string, txnId: string, raw: RawResponse) {
    const waiting = this.#room.get(txnId)
    if (!waiting || waiting.app !== app || waiting.settled) return app.nok(msgId, unknown)
    const kind = kindOf(waiting, raw)
    if (kind === 'unsupported') return app.nok(msgId, 'Remote endpoint does not support 100rel')
    if (tooLate(waiting, raw.status)) {
      this.#ends.finish(waiting, 487)
      return app.nok(msgId, over)
    }
    if (raw.status >= 200) waiting.settled = true
    const send = () => this.#send(waiting, app, msgId, raw, kind === 'reliable')
    if (!mustWait(waiting, raw.status, kind === 'reliable')) return send()
    const held = waiting.reliable?.hold({ send, drop: () => app.nok(msgId, unknown) })
    if (held) return
    waiting.settled = false
    app.nok(msgId, 'too many responses wait for a PRACK')
  }

  #send(waiting: Waiting, app: App, msgId: string, raw: RawResponse, reliable: boolean) {
    const { side, request, txnId } = waiting
    if (!this.#context.transports.back(side.flow, request.via)) {
      this.#ends.finish(waiting, 500)
      return app.nok(msgId, 'transport for response has been shutdown or closed')
    }
    const made = this.#make(waiting, raw, reliable)
    if (!made) {
      this.#ends.finish(waiting, 500)
      return app.nok(msgId, 'Unknown server error sending response')
    }
    this.#note(waiting, raw, made)
    if (raw.status >= 200) this.#ends.settle(waiting)
    side.machine.respond(raw.status, made.bytes)
    const shown = waiting.dialog?.ended ? '' : shownId(waiting, request)
    app.responseSent(msgId, side.flow.remote, txnId, shown, made.bytes)
    if (raw.status < 200) this.#provisional(waiting, raw.status, made.bytes, reliable)
    else if (raw.status < 300) this.#accepted(waiting, raw, made.bytes)
    else this.#refused(waiting, made.bytes)
  }

  #make(waiting: Waiting, raw: RawResponse, reliable: boolean): Delivered | undefined {
    if (reliable) waiting.reliable ??= this.#reliableOf(waiting)
    const rseq = reliable ? waiting.reliable?.next() : undefined
    return makeAppReply(this.#context, waiting, raw, rseq)
  }

  #reliableOf(waiting: Waiting): ReliableResponses {
    // RFC 3262 3: a caller who acknowledges nothing is refused with a 5xx.
    return new ReliableResponses(this.#context, () => this.#ends.abandon(waiting, 504))
  }

  /** What the response changes before it goes out. */
  #note(waiting: Waiting, raw: RawResponse, made: Delivered) {
    waiting.tag = made.tag
    waiting.responded ||= raw.status > 100
    waiting.tried = true
    waiting.side.offence = raw.status >= 300 && raw.headers.first(offenceKey) !== undefined
    waiting.side.isUnconfirmed = raw.headers.first(unconfirmedKey) !== undefined
    const makes = !waiting.inDialog && isMaker(waiting.request) && raw.status > 100 && raw.status < 300
    if (makes && !waiting.dialog) this.#early(waiting, raw)
    // The application may know only with its answer who has called.
    else if (makes && waiting.dialog) waiting.dialog.farEnd = farEndOf(raw.headers) ?? waiting.dialog.farEnd
    noteResponse(waiting, raw.status, describes(raw))
  }

  #provisional(waiting: Waiting, status: number, bytes: Buffer, reliable: boolean) {
    // The transaction of any other request ends in its time, whatever is said in between (RFC 4320).
    if (!waiting.side.invite) return
    const { clock, timers } = this.#context
    const { machine } = waiting.side
    waiting.limit?.cancel()
    waiting.limit = clock.after(timers.early, () => this.#ends.abandon(waiting, 480))
    waiting.progress?.cancel()
    if (reliable) {
      waiting.reliable?.sent(() => machine.respond(status, bytes), waiting.side.isUnconfirmed)
    } else if (status > 100) {
      // RFC 3261 13.3.1.1: proxies give a call up after three minutes without a provisional. A reliable one is not repeated: with
      // its old RSeq it would be dropped as a duplicate, and a new RSeq would be a response that the application never gave.
      const again = () => {
        machine.respond(status, bytes)
        waiting.progress = clock.after(timers.progress, again)
      }
      waiting.progress = clock.after(timers.progress, again)
    }
  }

  #accepted(waiting: Waiting, raw: RawResponse, bytes: Buffer) {
    const { dialog, request, side, inDialog, txnId } = waiting
    const { dialogs, registeredFlows, subscriptions, cdrs } = this.#context
    registeredFlows.learn(request, raw, side.flow)
    // What the application has ended by now is not begun again, and no ACK would stop the 2xx.
    if (!dialog || dialog.ended) return
    if (!inDialog) dialogs.confirm(dialog)
    else if (carriesContact.has(request.method)) dialog.refresh(request, side.flow)
    if (request.method === 'SUBSCRIBE') {
      subscriptions.granted(dialog, expiresOf(raw.headers) ?? expiresOf(request.headers))
    }
    if (side.invite && !inDialog) cdrs.start(dialog, 'application', 'uas', bytes)
    // An ACK of a re-INVITE is told under an id of its own.
    if (side.invite) {
      const send = wayBack(this.#context.transports, request, side.flow)
      this.#answers.add({
        dialog,
        seq: request.seq,
        bytes,
        send,
        txnId: inDialog ? randomUUID() : txnId,
        isUnconfirmed: side.isUnconfirmed,
      })
    }
    if (request.method === 'NOTIFY' && dialog.subscription && terminates(request.headers))
      dialogs.remove(dialog)
  }

  #refused({ inDialog, side, dialog }: Waiting, bytes: Buffer) {
    if (inDialog) return
    if (side.invite) this.#context.cdrs.refused('application', 'call-rejected', bytes)
    if (dialog) this.#context.dialogs.remove(dialog)
  }

  /** The dialog that a response makes (RFC 3261 12.1.1); once for each request. */
  #early(waiting: Waiting, raw: RawResponse) {
    const { request, side, tag } = waiting
    const own = ownOf(side.flow, this.#context)
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
      isUnconfirmed: side.isUnconfirmed,
      target: contactOf(request) ?? request.from.uri,
      owner: waiting.app,
      subscription: request.method === 'SUBSCRIBE',
    })
    this.#room.bind(waiting, dialog)
    this.#context.dialogs.add(dialog)
    noteRequest(dialog, request)
  }
}

const isMaker = (request: SipRequest): boolean =>
  request.method === 'INVITE' || request.method === 'SUBSCRIBE'

/** The dialog id that the application is shown; there is one before the dialog, for what may make it. */
const shownId = (waiting: Waiting, request: SipRequest): string => {
  if (waiting.dialog) return waiting.dialog.id
  return isMaker(request) ? dialogId(request.callId, request.fromTag) : ''
}

/**
 * How a provisional response is to be sent (RFC 3262 3): reliably where the application or the caller requires it, and never a 100.
 * `unsupported`: the application wants it, and the caller cannot.
 */
const kindOf = ({ request, side }: Waiting, raw: RawResponse): 'plain' | 'reliable' | 'unsupported' => {
  if (!side.invite || raw.status <= 100 || raw.status >= 200) return 'plain'
  if (optionTags(request.headers, 'require').has('100rel')) return 'reliable'
  if (!optionTags(raw.headers, 'require').has('100rel')) return 'plain'
  return optionTags(request.headers, 'supported').has('100rel') ? 'reliable' : 'unsupported'
}

/** True for the 2xx to an INVITE whose early dialog the application has ended by a BYE: it would be a call that nobody knows. */
const tooLate = ({ side, inDialog, dialog }: Waiting, status: number): boolean =>
  side.invite && !inDialog && status >= 200 && status < 300 && dialog?.ended === true

/**
 * True for what may not go out before the PRACK of the response before: the next reliable one, a 2xx (RFC 3262 3 and 5), and whatever
 * would overtake one of these. A refusal waits for nothing.
 */
const mustWait = ({ reliable }: Waiting, status: number, isReliable: boolean): boolean => {
  if (!reliable || status >= 300) return false
  return reliable.holds || (reliable.open && (isReliable || status >= 200))
}
