import { FakeClock } from '../clock.ts'
import { Cdrs } from '../core/cdr.ts'
import type { Context } from '../core/context.ts'
import { RegisteredFlows } from '../core/registered-flows.ts'
import { Subscriptions } from '../core/subscriptions.ts'
import { hangUp } from '../core/uac/hangup.ts'
import { OutgoingRequests } from '../core/uac/outgoing-requests.ts'
import { Unacked2xx } from '../core/uas/unacked-2xx.ts'
import { Dialogs } from '../dialog/dialogs.ts'
import type { App } from '../drachtio/app.ts'
import { checkMessage } from '../message/check.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import type { RawRequest, SipRequest } from '../message/message.ts'
import { parseDatagram, parseFromApp } from '../message/parse.ts'
import { makeTimers } from '../transaction/timers.ts'
import { Transactions } from '../transaction/transactions.ts'
import type { Flow, Hop, Protocol } from '../transport/types.ts'
import { message } from './messages.ts'
import { openReach } from './reach.ts'
import { type AppFrame, recordingApp } from './recording-app.ts'

type Lines = Readonly<Record<string, string>>

/** One far end that requests are sent to. */
export class Far implements Flow {
  readonly remote
  readonly local
  readonly isReliable: boolean
  readonly isClosed = false
  /** Whether every send fails. */
  dead = false
  readonly #bench: ClientBench
  readonly #inbox: SipRequest[] = []

  constructor(bench: ClientBench, protocol: Protocol, address: string) {
    this.#bench = bench
    this.isReliable = protocol !== 'udp'
    this.remote = { protocol, address, port: 5060 }
    this.local = { protocol, address: '192.0.2.1', port: protocol === 'udp' ? 5060 : 5061 }
  }

  send(bytes: Buffer, failed?: (reason: string) => void): void {
    if (this.dead) this.#bench.clock.after(0, () => failed?.('refused'))
    else this.#inbox.push(checkMessage(parseDatagram(bytes)) as SipRequest)
  }

  /** Returns the messages since the last call. */
  take(): SipRequest[] {
    return this.#inbox.splice(0)
  }

  /** Answers a request. */
  answer(request: SipRequest, status: number, lines: Lines = {}, body = '', tag = 't'): void {
    const { headers } = request
    const to = headers.first('to') ?? ''
    const copied = ['via', 'from', 'call-id', 'cseq'].map((key) => `${key}: ${headers.first(key)}\r\n`)
    const named = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
    const type = body === '' ? '' : 'Content-Type: application/sdp\r\n'
    const text =
      `SIP/2.0 ${status} S\r\n${copied.join('')}To: ${request.toTag || status === 100 ? to : `${to};tag=${tag}`}\r\n` +
      `Contact: <sip:far@${this.remote.address}>\r\n${named.join('')}${type}Content-Length: ${body.length}\r\n\r\n${body}`
    const response = message(text)
    if (response.kind === 'response') this.#bench.transactions.receive(response, this, text.length)
  }
}

/**
 * The client side of the core with one application and several far ends, in fake time and without sockets.
 */
export class ClientBench {
  readonly clock = new FakeClock()
  readonly dialogs = new Dialogs()
  readonly transactions: Transactions
  readonly answers: Unacked2xx
  readonly outgoing: OutgoingRequests
  readonly app: App
  readonly fars: Far[]
  readonly faults: unknown[] = []
  /** Hops that were reported to the router as failed. */
  readonly failed: string[] = []
  /** The router's order of hops for a request of this size. */
  fit = (hops: readonly Hop[], _bytes: number): readonly Hop[] => hops
  /** Whether the router's searches wait until {@link found} is called. */
  looking = false
  #found: (() => void)[] = []
  readonly #frames: AppFrame[] = []
  #msgId = 0

  /** `places` are the addresses of the far ends, with the prefix `tcp:` for one that is reached over TCP. */
  constructor(places: readonly string[] = ['192.0.2.9']) {
    this.fars = places.map((place) => {
      const [address = '', protocol = 'udp'] = place.split(':').reverse()
      return new Far(this, protocol as Protocol, address)
    })
    this.app = recordingApp(this.clock, (frame) => this.#frames.push(frame))
    this.transactions = new Transactions(this.clock, makeTimers(), (error) => this.faults.push(error))
    const context = this.#makeContext()
    const ackTimeout = 'SIP;cause=200;text="ACK timeout"'
    this.answers = new Unacked2xx(context, (dialog) => hangUp(context, dialog, ackTimeout))
    this.outgoing = new OutgoingRequests(context, this.answers)
  }

  #makeContext(): Context {
    const { clock, dialogs, transactions } = this
    const timers = makeTimers()
    const transports = {
      addresses: [{ protocol: 'udp', address: '192.0.2.1', port: 5060 }],
      flow: (hop: Hop) => this.fars.find((far) => far.remote.address === hop.address),
      ownHost: () => '192.0.2.1',
      isOwn: (_protocol: Protocol, address: string) => address === '192.0.2.1',
    }
    const router = {
      find: (_uri: string, done: (hops: readonly Hop[]) => void) => {
        const answer = () => done(this.fars.map(({ remote }) => ({ ...remote, host: remote.address })))
        if (this.looking) this.#found.push(answer)
        else answer()
        return true
      },
      fit: (hops: readonly Hop[], bytes: number) => this.fit(hops, bytes),
      failed: (hop: Hop) => this.failed.push(hop.address),
    }
    const kept = {
      cdrs: new Cdrs({ choose: () => undefined }),
      registeredFlows: new RegisteredFlows(clock),
      subscriptions: new Subscriptions(clock, timers, dialogs),
    }
    const context = {
      clock,
      timers,
      transports,
      transactions,
      dialogs,
      router,
      reach: openReach(clock),
      shield: { trustTemporarily: () => () => {} },
      userAgent: undefined,
      ...kept,
    }
    return context as unknown as Context
  }

  /**
   * Sends a request of the application outside dialogs; the agent's answer is the first frame of
   * {@link received}.
   */
  request(method: string, lines: Lines = {}, body = ''): void {
    this.outgoing.request(this.app, this.#next(), this.#raw(method, lines, body), '')
  }

  /** The same within a dialog. */
  within(id: string, method: string, lines: Lines = {}, body = ''): void {
    this.outgoing.inDialog(this.app, this.#next(), id, this.#raw(method, lines, body))
  }

  /** Cancels an INVITE of the application. */
  cancel(txnId: string): void {
    this.outgoing.cancel(this.app, this.#next(), txnId, this.#raw('CANCEL', {}, ''))
  }

  /** Completes the pending searches of the router. */
  found(): void {
    this.looking = false
    for (const answer of this.#found.splice(0)) answer()
  }

  #next(): string {
    return `m${++this.#msgId}`
  }

  #raw(method: string, lines: Lines, body: string): RawRequest {
    const headers = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
    const text = `${method} sip:b@far.example SIP/2.0\r\n${headers.join('')}\r\n${body}`
    return parseFromApp(Buffer.from(text), { ...defaultMessageLimits, headerLength: 65_536 }) as RawRequest
  }

  /** Returns the frames that the application received since the last call. */
  received(): AppFrame[] {
    return this.#frames.splice(0)
  }

  /**
   * Returns the state that is still held: all zero once a call has ended and its transactions have timed out.
   */
  held() {
    return {
      transactions: this.transactions.size,
      dialogs: this.dialogs.size,
      pending: this.outgoing.size,
      unacknowledged: this.answers.size,
      timers: this.clock.running,
    }
  }
}
