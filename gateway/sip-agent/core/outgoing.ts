import { randomUUID } from 'node:crypto'
import type { Timer } from '../../clock.ts'
import { type Dialog, dialogId } from '../dialog/dialog.ts'
import type { App } from '../drachtio/app.ts'
import { parseAddress } from '../message/address.ts'
import type { Header } from '../message/headers.ts'
import type { RawRequest, SipResponse } from '../message/message.ts'
import { knownMethods } from '../message/methods.ts'
import { startLine } from '../message/serialise.ts'
import { parseUri } from '../message/uri.ts'
import type { Flow } from '../transport/types.ts'
import type { Answers } from './answers.ts'
import {
  type AppHeader,
  appHeaders,
  contentType,
  forbidden,
  has,
  type Own,
  ownContact,
  replaceLocalhost,
} from './app-headers.ts'
import { type Context, newBranch, newTag } from './context.ts'
import { makeInDialog } from './in-dialog.ts'
import { endCrossed, OutgoingInvite } from './outgoing-invite.ts'
import { afterInDialog, OutgoingRequest } from './outgoing-request.ts'
import { findFlow, type MadeRequest, makeRequest, ownOf } from './requests.ts'

const dialogHeaders = new Set([...forbidden, 'from', 'to', 'call-id', 'cseq', 'content-type'])
const cancelHeaders = new Set([...dialogHeaders, 'contact', 'p-asserted-identity', 'max-forwards'])
/** Methods whose request makes a dialog, and so carries our Contact and a dialog id. */
const dialogMakers = new Set(['INVITE', 'SUBSCRIBE'])

/** Requests of the applications, on their way to the network. */
export class Outgoing {
  readonly #context: Context
  readonly #answers: Answers
  readonly #invites = new Map<string, OutgoingInvite>()
  /** Ends of dialogs whose BYE was challenged. */
  readonly #challenged = new Set<Timer>()

  constructor(context: Context, answers: Answers) {
    this.#context = context
    this.#answers = answers
  }

  /** INVITEs without a final response. */
  get size(): number {
    return this.#invites.size
  }

  /** A new request outside dialogs. `nextHop` is empty where the request-uri says where it goes. */
  request(app: App, msgId: string, raw: RawRequest, nextHop: string) {
    if (!knownMethods.has(raw.method) || raw.method === 'ACK' || raw.method === 'CANCEL') {
      return app.nok(msgId, `invalid method: ${raw.method}`)
    }
    const type = contentType(raw)
    if (type === undefined) return app.nok(msgId, 'missing content-type')
    if (!isUri(raw.uri) || (nextHop !== '' && !isUri(nextHop))) return app.nok(msgId, invalidUri(raw))
    const found = findFlow(nextHop === '' ? raw.uri : nextHop, this.#context, (flow) => {
      if (!app.open) return
      const { protocol, address, port } = flow.remote
      if (this.#context.transports.isOwn(protocol, address, port)) {
        return app.nok(msgId, 'can not send request to myself')
      }
      guard(app, msgId, () => this.#send(app, msgId, raw, type, flow))
    })
    if (!found) app.nok(msgId, 'requested protocol/transport not available')
  }

  /** A request within a dialog. */
  inDialog(app: App, msgId: string, dialog: Dialog | undefined, raw: RawRequest) {
    if (raw.method === 'ACK') return this.#ack(app, msgId, dialog, raw)
    if (!dialog || dialog.ended || dialog.owner !== app) {
      return app.nok(msgId, 'Server error: unable to find dialog for dialog id provided')
    }
    if (!knownMethods.has(raw.method) || raw.method === 'CANCEL') {
      return app.nok(msgId, `invalid method: ${raw.method}`)
    }
    const type = contentType(raw)
    if (type === undefined) return app.nok(msgId, 'missing content-type')
    if (raw.method === 'BYE' && dialog.inviteTxn) this.#invites.get(dialog.inviteTxn)?.cancel([])
    const headers = (own: Own) => [
      ...appHeaders(raw.headers, own, dialogHeaders),
      ...typeHeader(type),
      ...this.#agentHeader(raw),
    ]
    const request = { method: raw.method, body: raw.body, headers }
    guard(app, msgId, () =>
      makeInDialog(this.#context, dialog, request, (made, flow) => {
        this.#sendInDialog(app, msgId, dialog, made, flow)
      }),
    )
  }

  /** A CANCEL of the INVITE with this transaction id. */
  cancel(app: App, msgId: string, txnId: string, raw: RawRequest) {
    const invite = this.#invites.get(txnId)
    if (!invite || invite.app !== app) {
      return app.nok(msgId, `unable to cancel unknown transaction id: ${txnId}`)
    }
    const own = { host: 'localhost', port: 5060, protocol: 'udp' } as const
    guard(app, msgId, () => {
      const { bytes, flow } = invite.cancel(appHeaders(raw.headers, own, cancelHeaders))
      app.requestSent(msgId, flow.local, randomUUID(), bytes)
    })
  }

  /** The application is gone: its calls that were not answered yet are cancelled. */
  lost(app: App) {
    for (const invite of [...this.#invites.values()]) if (invite.app === app) invite.abandon()
  }

  /** Forgets everything without a word. */
  close() {
    this.#invites.clear()
    for (const timer of this.#challenged) timer.cancel()
    this.#challenged.clear()
  }

  #send(app: App, msgId: string, raw: RawRequest, type: string, flow: Flow) {
    const own = ownOf(flow, this.#context)
    const maker = dialogMakers.has(raw.method)
    const identity = identityOf(raw, own)
    const headers = [...appHeaders(raw.headers, own, dialogHeaders)]
    if (maker && !has(headers, 'Contact')) headers.unshift(['Contact', ownContact(own)])
    headers.push(...typeHeader(type), ...this.#agentHeader(raw))
    const made = makeRequest({
      method: raw.method,
      uri: raw.uri,
      branch: newBranch(),
      routes: [],
      ...identity,
      callId: raw.headers.first('call-id') ?? randomUUID(),
      seq: givenSeq(raw) ?? Math.floor(this.#context.clock.now() / 2_000) % 2 ** 27,
      own,
      headers,
      body: raw.body,
    })
    const txnId = randomUUID()
    app.requestSent(msgId, flow.local, txnId, made.bytes)
    const contact = headers.find(([name]) => name === 'Contact')?.[1] ?? ownContact(own)
    if (raw.method === 'INVITE') this.#startInvite({ app, txnId, made, flow, fromTag: identity.tag, contact })
    else
      this.#startRequest(app, txnId, maker ? dialogId(made.callId, identity.tag) : '', made, flow, () => {})
  }

  #sendInDialog(app: App, msgId: string, dialog: Dialog, made: MadeRequest, flow: Flow) {
    const txnId = randomUUID()
    app.requestSent(msgId, flow.local, txnId, made.bytes)
    if (made.method === 'INVITE') {
      dialog.inviteTxn = txnId
      this.#startInvite({ app, txnId, made, flow, fromTag: dialog.localTag, contact: '', dialog })
      return
    }
    const final = afterInDialog(made.method, dialog, this.#endDialog, this.#awaitCredentials)
    const start = () => this.#startRequest(app, txnId, dialog.id, made, flow, final)
    if (made.method === 'BYE') this.#answers.whenSettled(dialog, start)
    else start()
  }

  #endDialog = (dialog: Dialog) => {
    this.#context.dialogs.remove(dialog)
    this.#answers.drop(dialog)
  }

  /** An application without credentials does not come back: its dialog must not stay for ever. */
  #awaitCredentials = (dialog: Dialog) => {
    const { clock, timers } = this.#context
    const timer = clock.after(64 * timers.t1, () => {
      this.#challenged.delete(timer)
      this.#endDialog(dialog)
    })
    this.#challenged.add(timer)
  }

  #startInvite(start: {
    app: App
    txnId: string
    made: MadeRequest
    flow: Flow
    fromTag: string
    contact: string
    dialog?: Dialog
  }) {
    const { txnId } = start
    const invite = new OutgoingInvite({
      ...start,
      dialog: start.dialog,
      context: this.#context,
      done: () => this.#invites.delete(txnId),
    })
    this.#invites.set(txnId, invite)
    invite.send()
  }

  #startRequest(
    app: App,
    txnId: string,
    id: string,
    made: MadeRequest,
    flow: Flow,
    final: (response: SipResponse | undefined, flow: Flow) => void,
  ) {
    const user = new OutgoingRequest({ app, txnId, dialogId: id, made, flow, final })
    this.#context.transactions.send(made.branch, made.method, made.bytes, flow, user)
  }

  /** The application acknowledges a 2xx (RFC 3261 13.2.2.4): when, and with which body, is its choice. */
  #ack(app: App, msgId: string, dialog: Dialog | undefined, raw: RawRequest) {
    const seq = dialog?.answeredSeq
    if (!dialog || seq === undefined || dialog.owner !== app) {
      const text = 'ACK for non-success final response is automatically generated by server'
      return app.nok(msgId, `Server error: ${text}`)
    }
    const type = contentType(raw)
    if (type === undefined) return app.nok(msgId, 'missing content-type')
    const headers = (own: Own) => [...appHeaders(raw.headers, own, dialogHeaders), ...typeHeader(type)]
    const request = { method: 'ACK', seq, body: raw.body, headers }
    guard(app, msgId, () =>
      makeInDialog(this.#context, dialog, request, (made, flow) => {
        dialog.answeredSeq = undefined
        dialog.keepAck(seq, made.bytes, flow)
        flow.send(made.bytes)
        app.requestSent(msgId, flow.local, randomUUID(), made.bytes)
        if (dialog.endAfterAck) endCrossed(this.#context, dialog)
      }),
    )
  }

  #agentHeader(raw: RawRequest): AppHeader[] {
    const { userAgent } = this.#context
    return userAgent && raw.headers.first('user-agent') === undefined ? [['User-Agent', userAgent]] : []
  }
}

const typeHeader = (type: string): AppHeader[] => (type === '' ? [] : [['Content-Type', type]])

/** Turns a fault in what the application wrote into the answer `NOK`. */
const guard = (app: App, msgId: string, run: () => void): void => {
  try {
    run()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'SipParseError') throw error
    app.nok(msgId, `invalid ${error.message}`)
  }
}

/** From and To of a new request: the application's, else our own contact and the request-uri. */
const identityOf = (raw: RawRequest, own: Own): { from: string; to: string; tag: string } => {
  const value = (key: Header['key'], fallback: string) =>
    replaceLocalhost(key, raw.headers.first(key) ?? fallback, own)
  const from = value('from', ownContact({ ...own, protocol: 'udp' }))
  const given = parseAddress(from, 'From').params.get('tag')
  const to = value('to', `<${raw.uri}>`)
  parseAddress(to, 'To')
  if (given) return { from, to, tag: given }
  const tag = newTag()
  return { from: `${from};tag=${tag}`, to, tag }
}

/** The number of a CSeq header that the application gave; a digest retry does. */
const givenSeq = (raw: RawRequest): number | undefined => {
  const match = /^\s*([0-9]{1,10})(?:\s|$)/.exec(raw.headers.first('cseq') ?? '')
  const value = match ? Number(match[1]) : undefined
  return value !== undefined && value < 2 ** 31 ? value : undefined
}

const isUri = (text: string): boolean => {
  try {
    parseUri(text.replace(/^<|>$/g, ''))
    return true
  } catch {
    return false
  }
}

/** The text with which a request-uri that cannot be parsed is refused. */
const invalidUri = (raw: RawRequest): string => `invalid request-uri: ${startLine(raw)}`
