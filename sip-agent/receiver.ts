import { privateKeys } from './core/app-headers.ts'
import type { Context } from './core/context.ts'
import { hasLooped } from './core/loops.ts'
import { deliverCancel } from './core/uas/cancelled.ts'
import { InDialogRequests } from './core/uas/in-dialog-requests.ts'
import { type IncomingRequests, retryAfter } from './core/uas/incoming-requests.ts'
import { noteReceivedAck } from './core/uas/received-descriptions.ts'
import { refusalOf } from './core/uas/refusals.ts'
import { responseSender } from './core/uas/response-sender.ts'
import { makeResponse, malformedRejection, markSource, responseTemplate } from './core/uas/responses.ts'
import type { Unacked2xx } from './core/uas/unacked-2xx.ts'
import { dialogId } from './dialog/dialog.ts'
import type { SipMessage, SipRequest } from './message/message.ts'
import { serialiseMessage } from './message/serialise.ts'
import type { SipParseError } from './message/sip-parse-error.ts'
import type { Proxies } from './proxy/proxies.ts'
import { InviteServerTransaction } from './transaction/invite-server.ts'
import type { ServerEntry } from './transaction/transactions.ts'
import type { Flow, TransportSink } from './transport/types.ts'

/** Methods that need a dialog. */
const dialogOnly = new Set(['BYE', 'UPDATE', 'PRACK'])

/**
 * Number of request bytes that count as one transaction, so that a flood of large requests does not take all
 * memory.
 */
const transactionUnitBytes = 4_096

/** Tag of stateless rejections: the same for every copy of a request (RFC 3261 8.2.7). */
const busy = 'busy'

/**
 * Handles received messages: finds the transaction and the dialog, and rejects requests that no application
 * needs to see.
 */
export class Receiver implements TransportSink {
  readonly #context: Context
  readonly #incoming: IncomingRequests
  readonly #answers: Unacked2xx
  readonly #fault: (error: unknown) => void
  readonly #maxTransactions: number
  readonly #understood: ReadonlySet<string>
  readonly #within: InDialogRequests
  readonly #proxies: Pick<Proxies, 'cancel' | 'stateless'>
  #strays = 0

  constructor(options: {
    context: Context
    incoming: IncomingRequests
    answers: Unacked2xx
    proxies: Pick<Proxies, 'cancel' | 'stateless'>
    /** Receives an internal error. The message is dropped, and the agent continues. */
    fault: (error: unknown) => void
    /**
     * Maximum number of server transactions, beyond which new requests get 503; the limit of untrusted
     * sources is lower.
     */
    maxTransactions: number
    /** Option tags that a request may require. */
    understood: readonly string[]
  }) {
    this.#context = options.context
    this.#incoming = options.incoming
    this.#answers = options.answers
    this.#proxies = options.proxies
    this.#fault = options.fault
    this.#maxTransactions = options.maxTransactions
    this.#understood = new Set(options.understood.map((tag) => tag.toLowerCase()))
    this.#within = new InDialogRequests(options)
  }

  /** Number of responses and ACKs since the start that belong to no transaction. */
  get strays(): number {
    return this.#strays
  }

  received(message: SipMessage, flow: Flow, size: number) {
    this.#guard(() => this.#handle(message, flow, size))
  }

  /** Runs a handler and reports its error: no message of the network may end the agent. */
  #guard(run: () => void) {
    try {
      run()
    } catch (error) {
      this.#fault(error)
    }
  }

  #handle(message: SipMessage, flow: Flow, size: number) {
    // An application that copies headers must not pass on private headers of a peer.
    for (const key of privateKeys) message.headers.remove(key)
    if (message.kind === 'response') {
      const taken =
        this.#context.transactions.receive(message, flow, size) || this.#proxies.stateless.response(message)
      if (!taken) this.#strays++
      return
    }
    markSource(message.headers, flow, message.via)
    if (message.method === 'ACK') return this.#ack(message, flow, size)
    if (this.#proxies.stateless.request(message, flow)) return
    const known = this.#context.transactions.find(message)
    if (known) this.#incoming.retransmitted(known)
    else if (this.#isFull(flow) && !this.#continues(message)) this.#overloaded(message, flow)
    else this.#serve(message, flow, size)
  }

  /**
   * Returns whether there is no room for a new request. Untrusted sources may use three quarters, so that a
   * flood leaves the rest to carriers.
   */
  #isFull({ remote }: Flow): boolean {
    const { transactions, shield } = this.#context
    const used = Math.max(transactions.servers, transactions.bytes / transactionUnitBytes)
    if (used < this.#maxTransactions * 0.75) return false
    return used >= this.#maxTransactions || !shield.isTrusted(remote.address)
  }

  /**
   * Returns whether a request belongs to an existing call, for instance ends it. Such requests are accepted
   * under overload, because rejecting them would keep the call and its load.
   */
  #continues(request: SipRequest): boolean {
    const { transactions, dialogs } = this.#context
    if (request.method === 'CANCEL') return transactions.findCancelled(request) !== undefined
    return request.toTag !== '' && dialogs.find(request) !== undefined
  }

  #serve(request: SipRequest, flow: Flow, size: number) {
    const trying = () => makeResponse(responseTemplate(request), { status: 100 })
    const { transports, transactions, shield } = this.#context
    const send = responseSender(transports, request, flow)
    const unproven = !flow.isReliable && request.toTag === '' && !shield.isTrusted(flow.remote.address)
    const side = transactions.serve(request, flow, { trying, send, isSpoofable: unproven, size })
    try {
      this.#open(request, side, size)
    } catch (error) {
      // Without a pending request no event would end the transaction.
      if (!this.#incoming.pending.of(side)) side.machine.stop()
      throw error
    }
  }

  malformed(error: SipParseError, flow: Flow) {
    this.#guard(() => {
      const bytes = malformedRejection(error, flow)
      if (!bytes) return
      const { method = '', headers } = error.request ?? {}
      const callId = headers?.first('call-id') ?? ''
      this.#context.refusals.add(
        error.status,
        { method, uri: '', callId },
        flow.remote.address,
        error.message,
      )
      flow.send(bytes)
    })
  }

  lost(flow: Flow) {
    this.#guard(() => this.#context.transactions.lost(flow))
  }

  #overloaded(request: SipRequest, flow: Flow) {
    const headers = [retryAfter]
    this.#context.refusals.add(503, request, flow.remote.address)
    flow.send(makeResponse(responseTemplate(request), { status: 503, tag: busy, headers }))
  }

  #open(request: SipRequest, side: ServerEntry, size: number) {
    if (request.method === 'CANCEL') return this.#cancel(request, side, size)
    const refusal = refusalOf(request, {
      understood: this.#understood,
      isLooped: hasLooped(request),
      isMerged: this.#context.transactions.isMerged(request, side),
    })
    if (refusal) return this.#incoming.reply(request, side, refusal)
    if (request.toTag === '') this.#outside(request, side, size)
    else this.#inside(request, side, size)
  }

  #outside(request: SipRequest, side: ServerEntry, size: number) {
    if (dialogOnly.has(request.method)) return this.#incoming.reply(request, side, { status: 481 })
    // The application identifies a call by Call-ID and From tag alone, so two calls must not share these.
    const known = () => this.#context.dialogs.isKnown(dialogId(request.callId, request.fromTag))
    if (side.isInvite && (this.#incoming.pending.isCalling(request) || known())) {
      return this.#incoming.reply(request, side, { status: 482 })
    }
    this.#incoming.offer(request, side, size)
  }

  #inside(request: SipRequest, side: ServerEntry, size: number) {
    const { dialogs } = this.#context
    const dialog = dialogs.find(request) ?? dialogs.begin(request, side.flow)
    if (dialog) dialog.isPeerUnverified = false
    if (dialog) return this.#within.serve(request, side, dialog, size)
    if (request.method === 'REGISTER') return this.#incoming.offer(request, side, size)
    if (request.method === 'PRACK') return this.#within.latePrack(request, side)
    this.#incoming.reply(request, side, { status: 481 })
  }

  #cancel(cancel: SipRequest, side: ServerEntry, size: number) {
    const target = this.#context.transactions.findCancelled(cancel)
    if (!target) return this.#incoming.reply(cancel, side, { status: 481 })
    const waiting = this.#incoming.pending.of(target)
    // RFC 3261 9.2: the responses to CANCEL and INVITE have the same To tag. After a final response a CANCEL
    // is answered, but has no effect.
    this.#incoming.reply(cancel, side, { status: 200, tag: waiting?.tag ?? target.tag })
    if (!waiting) return this.#proxies.cancel(target)
    this.#incoming.finish(waiting, 487, { end: 'call-canceled' })
    deliverCancel(waiting, cancel, side.flow, size)
  }

  #ack(request: SipRequest, flow: Flow, size: number) {
    const side = this.#context.transactions.find(request)
    // The ACK to a 2xx is not part of the transaction, even if a phone repeats the branch (RFC 6026 7.1).
    if (side?.machine instanceof InviteServerTransaction && side.machine.state !== 'accepted') {
      // Only the receiver of the rejection knows its tag. An ACK with this tag proves the address of the
      // sender, so the offence may count against it.
      if (side.isOffense && side.machine.state === 'completed' && request.toTag === side.tag)
        this.#context.shield.recordOffense(side.flow.remote.address, true, 'refused')
      side.machine.acknowledged()
      return
    }
    if (this.#proxies.stateless.request(request, flow)) return
    const dialog = this.#context.dialogs.find(request)
    if (!dialog && request.toTag !== busy) this.#strays++
    if (dialog) dialog.isPeerUnverified = false
    const txnId = dialog && this.#answers.acknowledge(dialog, request.seq)
    if (!dialog || !txnId) return
    noteReceivedAck(dialog, request)
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
