import { type Dialog, dialogId } from '../dialog/dialog.ts'
import type { SipParseError } from '../message/error.ts'
import type { SipMessage, SipRequest } from '../message/message.ts'
import { knownMethods } from '../message/methods.ts'
import { serialiseMessage } from '../message/serialise.ts'
import { InviteServerTransaction } from '../transaction/invite-server.ts'
import type { ServerSide } from '../transaction/transactions.ts'
import type { Flow, TransportSink } from '../transport/types.ts'
import type { Answers } from './answers.ts'
import { deliverCancel } from './cancelled.ts'
import type { Context } from './context.ts'
import type { Incoming } from './incoming.ts'
import { makeReply, markSource, refusal, replyBase } from './replies.ts'

/** Methods that make no sense without a dialog. */
const dialogOnly = new Set(['BYE', 'UPDATE', 'PRACK'])

/** Option tags that the agent can honour in Require. Reliable provisionals (`100rel`) and `timer` join here when they come. */
const supported: ReadonlySet<string> = new Set<string>()

/** What the transports bring: finds the transaction and the dialog, refuses what the agent refuses itself. */
export class Receiver implements TransportSink {
  readonly #context: Context
  readonly #incoming: Incoming
  readonly #answers: Answers
  readonly #fault: (error: unknown) => void
  readonly #maxTransactions: number

  constructor(options: {
    context: Context
    incoming: Incoming
    answers: Answers
    /** Told of an error within the agent: the message is dropped, the agent lives on. */
    fault: (error: unknown) => void
    /** Transactions of received requests beyond which new requests get 503 at once. */
    maxTransactions: number
  }) {
    this.#context = options.context
    this.#incoming = options.incoming
    this.#answers = options.answers
    this.#fault = options.fault
    this.#maxTransactions = options.maxTransactions
  }

  received(message: SipMessage, flow: Flow, size: number) {
    this.#guard(() => this.#handle(message, flow, size))
  }

  /** No message from the network may end the agent, whatever is wrong in it or in us. */
  #guard(run: () => void) {
    try {
      run()
    } catch (error) {
      this.#fault(error)
    }
  }

  #handle(message: SipMessage, flow: Flow, size: number) {
    if (message.kind === 'response') {
      this.#context.transactions.receive(message, flow, size)
      return
    }
    markSource(message.headers, flow)
    if (message.method === 'ACK') return this.#ack(message, flow, size)
    const known = this.#context.transactions.find(message)
    if (known) known.machine.retransmitted()
    else if (this.#context.transactions.servers >= this.#maxTransactions && !this.#continues(message))
      this.#overloaded(message, flow)
    else this.#serve(message, flow, size)
  }

  /** True for what ends or changes a call that is there: refusing it would keep the call, and the load. */
  #continues(request: SipRequest): boolean {
    const { transactions, dialogs } = this.#context
    if (request.method === 'CANCEL') return transactions.findCancelled(request) !== undefined
    return request.toTag !== '' && dialogs.find(request) !== undefined
  }

  #serve(request: SipRequest, flow: Flow, size: number) {
    const side = this.#context.transactions.serve(request, flow)
    try {
      this.#open(request, side, size)
    } catch (error) {
      // Nobody would ever end it.
      if (!this.#incoming.of(side)) side.machine.stop()
      throw error
    }
  }

  malformed(error: SipParseError, flow: Flow) {
    this.#guard(() => {
      const bytes = refusal(error, flow)
      if (bytes) flow.send(bytes)
    })
  }

  lost(flow: Flow) {
    this.#guard(() => this.#context.transactions.lost(flow))
  }

  #overloaded(request: SipRequest, flow: Flow) {
    const headers = [['Retry-After', '5']] as const
    flow.send(makeReply(replyBase(request), { status: 503, tag: 'busy', headers }))
  }

  #open(request: SipRequest, side: ServerSide, size: number) {
    if (request.method === 'CANCEL') return this.#cancel(request, side, size)
    if (this.#refused(request, side)) return
    if (request.toTag === '') this.#outside(request, side, size)
    else this.#inside(request, side, size)
  }

  /** The checks of RFC 3261 8.2, in its order. */
  #refused(request: SipRequest, side: ServerSide): boolean {
    const refuse = (status: number, ...headers: [string, string][]) => {
      this.#incoming.reply(request, side, { status, headers })
      return true
    }
    if (!knownMethods.has(request.method)) return refuse(501, ['Allow', [...knownMethods].join(', ')])
    // RFC 4475 3.3.11: an endpoint takes a request of no hops; only a new call would go on from here to others.
    const goesOn = request.method === 'INVITE' && request.toTag === ''
    if (goesOn && Number(request.headers.first('max-forwards') ?? 70) === 0) return refuse(483)
    if (!/^(?:sips?|tel):/i.test(request.uri)) return refuse(416)
    // RFC 3261 8.2.2.2: the same request came by another path.
    if (this.#context.transactions.isMerged(request, side)) return refuse(482)
    const required = request.headers
      .all('require')
      .flatMap((value) => value.split(',').map((each) => each.trim()))
    const unsupported = required.filter((option) => option !== '' && !supported.has(option.toLowerCase()))
    return unsupported.length > 0 && refuse(420, ['Unsupported', unsupported.join(', ')])
  }

  #outside(request: SipRequest, side: ServerSide, size: number) {
    if (dialogOnly.has(request.method)) return this.#incoming.reply(request, side, { status: 481 })
    // The application knows a call by Call-ID and From tag alone, so these must not mean two calls.
    if (side.invite && this.#context.dialogs.byId(dialogId(request.callId, request.fromTag))) {
      return this.#incoming.reply(request, side, { status: 482 })
    }
    this.#incoming.offer(request, side, size)
  }

  #inside(request: SipRequest, side: ServerSide, size: number) {
    const dialog = this.#context.dialogs.find(request)
    if (!dialog) {
      if (request.method === 'REGISTER') return this.#incoming.offer(request, side, size)
      return this.#incoming.reply(request, side, { status: 481 })
    }
    // RFC 3261 12.2.2: an older number than before.
    if (!dialog.acceptSeq(request.seq)) return this.#incoming.reply(request, side, { status: 500 })
    if (request.method === 'INVITE') return this.#reinvite(request, side, dialog, size)
    if (request.method === 'BYE') return this.#bye(request, side, dialog, size)
    this.#incoming.offerInDialog(request, side, dialog, size)
  }

  #reinvite(request: SipRequest, side: ServerSide, dialog: Dialog, size: number) {
    // RFC 3261 14.2: glare with our own, or a second one before the first was answered.
    if (dialog.inviteTxn) return this.#incoming.reply(request, side, { status: 491 })
    if (dialog.invited || !dialog.confirmed) {
      const headers = [['Retry-After', String(Math.floor(Math.random() * 10))]] as const
      return this.#incoming.reply(request, side, { status: 500, headers })
    }
    this.#incoming.offerInDialog(request, side, dialog, size)
  }

  #bye(request: SipRequest, side: ServerSide, dialog: Dialog, size: number) {
    if (!dialog.confirmed) return this.#earlyBye(request, side, dialog, size)
    // RFC 3261 15.1.2: what waits in this dialog is answered with 487.
    for (const waiting of this.#incoming.inDialog(dialog)) this.#incoming.finish(waiting, 487)
    this.#incoming.offerInDialog(request, side, dialog, size)
    this.#context.dialogs.remove(dialog)
    this.#answers.drop(dialog)
  }

  /** The caller gives up by BYE before an answer: like a CANCEL for the application. */
  #earlyBye(request: SipRequest, side: ServerSide, dialog: Dialog, size: number) {
    const waiting = this.#incoming.early(dialog)
    if (!waiting) return this.#incoming.reply(request, side, { status: 481 })
    this.#incoming.reply(request, side, { status: 200 })
    const cancel = { ...request, method: 'CANCEL', headers: request.headers }
    cancel.headers.replace('CSeq', `${waiting.request.seq} CANCEL`)
    this.#incoming.finish(waiting, 487)
    deliverCancel(waiting, cancel, side.flow, size)
  }

  #cancel(cancel: SipRequest, side: ServerSide, size: number) {
    const target = this.#context.transactions.findCancelled(cancel)
    if (!target) return this.#incoming.reply(cancel, side, { status: 481 })
    const waiting = this.#incoming.of(target)
    // RFC 3261 9.2: the same To tag in both answers; after a final response a CANCEL is answered, and has no effect.
    this.#incoming.reply(cancel, side, { status: 200, tag: waiting?.tag ?? target.tag })
    if (!waiting) return
    this.#incoming.finish(waiting, 487)
    deliverCancel(waiting, cancel, side.flow, size)
  }

  #ack(request: SipRequest, flow: Flow, size: number) {
    const side = this.#context.transactions.find(request)
    // An ACK to a 2xx is no part of the transaction, even where a phone repeats the branch (RFC 6026 7.1).
    if (side?.machine instanceof InviteServerTransaction && side.machine.state !== 'accepted') {
      // Only who got our refusal knows its tag: the INVITE's address is really the sender's, and may be held to account.
      if (side.machine.refused && request.toTag === side.tag)
        this.#context.shield.offend(side.flow.remote.address, true, 'refused')
      side.machine.acknowledged()
      return
    }
    const dialog = this.#context.dialogs.find(request)
    const txnId = dialog && this.#answers.acknowledge(dialog, request.seq)
    if (!dialog || !txnId) return
    dialog.owner?.deliver({
      source: 'network',
      size,
      from: flow.remote,
      txnId,
      dialogId: dialog.id,
      message: serialiseMessage(request),
    })
  }
}
