import { FakeClock } from '../clock.ts'
import { Cdrs } from '../core/cdr.ts'
import type { Context } from '../core/context.ts'
import { Diversions } from '../core/diversions.ts'
import { defaultUnderstood } from '../core/options.ts'
import { OwnRefusals } from '../core/own-refusals.ts'
import { RegisteredFlows } from '../core/registered-flows.ts'
import { Subscriptions } from '../core/subscriptions.ts'
import { IncomingRequests } from '../core/uas/incoming-requests.ts'
import { Unacked2xx } from '../core/uas/unacked-2xx.ts'
import type { Dialog } from '../dialog/dialog.ts'
import { Dialogs } from '../dialog/dialogs.ts'
import type { App } from '../drachtio/app.ts'
import { Headers } from '../message/headers.ts'
import type { SipResponse } from '../message/message.ts'
import { Proxies } from '../proxy/proxies.ts'
import { Receiver } from '../receiver.ts'
import { makeTimers } from '../transaction/timers.ts'
import { Transactions } from '../transaction/transactions.ts'
import { message, RecordingFlow } from './messages.ts'
import { openReach } from './reach.ts'
import { type AppFrame, recordingApp } from './recording-app.ts'

/** Header lines of a request or response, by name. */
type Lines = Readonly<Record<string, string>>

/** The server side of the core with one peer and one application, in fake time and without sockets. */
export class CoreBench {
  readonly clock = new FakeClock()
  readonly flow: RecordingFlow
  /** The flow for responses if `flow` is closed. */
  again: RecordingFlow | undefined
  readonly app: App
  readonly dialogs = new Dialogs()
  readonly transactions: Transactions
  readonly incoming: IncomingRequests
  readonly answers: Unacked2xx
  readonly receiver: Receiver
  readonly faults: unknown[] = []
  readonly refusals = new OwnRefusals(this.clock, () => {})
  readonly diversions = new Diversions(this.clock, () => {})
  /** Dialogs whose ACK never arrived. */
  readonly expired: Dialog[] = []
  readonly #received: AppFrame[] = []
  #seen = 0

  constructor({ reliable = false, understood = defaultUnderstood } = {}) {
    const { clock, dialogs } = this
    this.flow = new RecordingFlow(reliable)
    this.app = recordingApp(this.clock, (frame) => this.#received.push(frame))
    const timers = makeTimers()
    this.transactions = new Transactions(clock, timers, (error) => this.faults.push(error))
    const context = {
      clock,
      timers,
      dialogs,
      transactions: this.transactions,
      transports: { ownHost: () => '192.0.2.1', back: () => (this.flow.isClosed ? this.again : this.flow) },
      reach: openReach(clock),
      shield: { recordOffense: () => {}, isTrusted: () => true, trustTemporarily: () => () => {} },
      refusals: this.refusals,
      diversions: this.diversions,
      cdrs: new Cdrs({ choose: () => undefined }),
      registeredFlows: new RegisteredFlows(clock),
      subscriptions: new Subscriptions(clock, timers, dialogs),
      userAgent: undefined,
    } as unknown as Context
    this.answers = new Unacked2xx(context, (dialog) => {
      this.expired.push(dialog)
      dialogs.remove(dialog)
    })
    this.incoming = new IncomingRequests(
      context,
      { find: (_method, done) => done(this.app, 503) },
      this.answers,
    )
    const parts = { context, incoming: this.incoming, answers: this.answers }
    const fault = (error: unknown) => this.faults.push(error)
    this.receiver = new Receiver({
      ...parts,
      proxies: new Proxies(context, this.incoming, fault),
      fault,
      maxTransactions: 1_000,
      understood,
    })
  }

  /** Returns a request of the peer's one call, with the usual headers unless `lines` has others. */
  receive(method: string, seq: number, branch: string, lines: Lines = {}, body = '') {
    const headers: Record<string, string> = {
      Via: `SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bK${branch}`,
      From: '<sip:a@192.0.2.9>;tag=f',
      To: '<sip:b@192.0.2.1>',
      'Call-ID': 'c1',
      CSeq: `${seq} ${method}`,
      Contact: '<sip:a@192.0.2.9>',
      ...(body !== '' && { 'Content-Type': 'application/sdp' }),
      ...lines,
      'Content-Length': String(body.length),
    }
    const text = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const parsed = message(`${method} sip:b@192.0.2.1 SIP/2.0\r\n${text.join('')}\r\n${body}`)
    this.receiver.received(parsed, this.flow, 100)
  }

  /** Returns the frames that the application received since the last call. */
  received(): AppFrame[] {
    return this.#received.splice(0)
  }

  /** Returns the requests among the received frames, each with its txnId and dialogId. */
  handed(): { method: string; txnId: string; dialogId: string }[] {
    return this.received()
      .filter(({ fields }) => fields[0] === 'sip')
      .map(({ fields, text }) => ({
        method: text.split(' ', 1)[0] as string,
        txnId: fields[7] as string,
        dialogId: fields[8] as string,
      }))
  }

  /**
   * Sends the application's response to the request with this transaction id. `name` is the id of the frame.
   */
  respond(txnId: string, status: number, lines: Lines = {}, body = '', name = 'm') {
    const headers = new Headers()
    for (const [key, value] of Object.entries(lines)) headers.append(key, value)
    const raw = { kind: 'response', status, reason: 'R', headers, body: Buffer.from(body) } as const
    this.incoming.respond(this.app, name, txnId, raw)
  }

  /** Returns the responses that were sent since the last call. */
  sent(): SipResponse[] {
    const texts = this.flow.sent.slice(this.#seen)
    this.#seen = this.flow.sent.length
    return texts.map((text) => message(text) as SipResponse)
  }

  /** Returns the status codes of {@link sent}. */
  statuses(): number[] {
    return this.sent().map((each) => each.status)
  }

  /**
   * Returns the state that is still held: all zero once a call has ended and its transactions have timed out.
   */
  held() {
    return {
      transactions: this.transactions.size,
      dialogs: this.dialogs.size,
      pending: this.incoming.size,
      unacknowledged: this.answers.size + this.incoming.latePracks.size,
      timers: this.clock.running,
    }
  }
}

/** Result of {@link CoreBench.held} without any state. */
export const nothing = { transactions: 0, dialogs: 0, pending: 0, unacknowledged: 0, timers: 0 }
