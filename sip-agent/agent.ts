import type { Clock } from './clock.ts'
import { Cdrs } from './core/cdr.ts'
import type { Context } from './core/context.ts'
import { type Diversion, Diversions } from './core/diversions.ts'
import { defaultUnderstood } from './core/options.ts'
import { type OwnRefusal, OwnRefusals } from './core/own-refusals.ts'
import { RegisteredFlows } from './core/registered-flows.ts'
import { Subscriptions } from './core/subscriptions.ts'
import { hangUp } from './core/uac/hangup.ts'
import { OutgoingRequests } from './core/uac/outgoing-requests.ts'
import { IncomingRequests } from './core/uas/incoming-requests.ts'
import { Unacked2xx } from './core/uas/unacked-2xx.ts'
import { Dialogs } from './dialog/dialogs.ts'
import type { App } from './drachtio/app.ts'
import { AppFinder } from './drachtio/app-finder.ts'
import { AppServer } from './drachtio/app-server.ts'
import { AppSessions } from './drachtio/app-sessions.ts'
import { Apps } from './drachtio/apps.ts'
import { defaultMessageLimits } from './message/limits.ts'
import type { RawMessage } from './message/message.ts'
import { parseFromApp } from './message/parse.ts'
import { SipParseError } from './message/sip-parse-error.ts'
import { formatHost } from './message/uri.ts'
import { Proxies } from './proxy/proxies.ts'
import { Reach } from './reach/reach.ts'
import { Receiver } from './receiver.ts'
import { type Dns, SystemDns } from './route/dns.ts'
import { SipRouter } from './route/router.ts'
import { Shield } from './shield/shield.ts'
import { makeTimers } from './transaction/timers.ts'
import { Transactions } from './transaction/transactions.ts'
import { MessageTrace, type TracedMessage } from './transport/message-trace.ts'
import { Transports } from './transport/transports.ts'
import {
  type SipAddress,
  type SipAgentChange,
  type SipAgentOptions,
  type SipAgentStats,
  toAddress,
} from './types.ts'

/**
 * Limits of an application's messages. They are larger than those of peers, because the size of a frame is
 * limited as well.
 */
const appLimits = { ...defaultMessageLimits, messageBytes: 1 << 20, headerLength: 65_536 }
const appLost = 'SIP;cause=503;text="Application connection lost"'
const ackTimeout = 'SIP;cause=200;text="ACK timeout"'

/** The agent, independent of its thread: creates and connects all of its components. */
export class Agent {
  readonly #context: Context
  readonly #apps = new Apps()
  readonly #answers: Unacked2xx
  readonly #incoming: IncomingRequests
  readonly #outgoing: OutgoingRequests
  readonly #proxies: Proxies
  readonly #receiver: Receiver
  readonly #server: AppServer
  readonly #shield: Shield
  readonly #refusals: OwnRefusals
  readonly #diversions: Diversions
  readonly #dns: Dns & { close?(): void }
  readonly #router: SipRouter
  readonly #reach: Reach
  readonly #trace: MessageTrace | undefined
  #isClosed = false

  /** `fault` receives internal errors that cost one message. */
  constructor(
    options: Omit<SipAgentOptions, 'listen'> & {
      secret: string
      clock: Clock
      fault: (error: unknown) => void
      /**
       * Receives requests that were rejected without an application, at most ten per second. Default:
       * ignored.
       */
      refused?: (refusal: OwnRefusal) => void
      /** Receives dialogs whose route was not followed. Default: ignored. */
      diverted?: (diversion: Diversion) => void
      /** Name resolution; default the system's servers. */
      dns?: Dns
    },
  ) {
    const {
      clock,
      secret,
      userAgent,
      deliversTrying,
      fault,
      refused = () => {},
      diverted = () => {},
    } = options
    const { maxConnections = 1_000, maxTransactions = 50_000, understood = defaultUnderstood } = options
    const timers = makeTimers(options.timers)
    const shield = new Shield(clock, options.shield)
    this.#shield = shield
    const trace = options.trace && new MessageTrace(options.trace, clock)
    this.#trace = trace
    const refusals = new OwnRefusals(clock, refused)
    this.#refusals = refusals
    this.#diversions = new Diversions(clock, diverted)
    const transports = new Transports({
      sink: {
        received: (message, flow, size) => receiver.received(message, flow, size),
        malformed: (error, flow) => {
          shield.recordOffense(flow.remote.address, flow.isReliable, 'malformed')
          receiver.malformed(error, flow)
        },
        lost: (flow) => {
          this.#context.registeredFlows.lost(flow)
          receiver.lost(flow)
        },
        fault,
        ...(trace && { traced: (direction, bytes, flow) => trace.add(direction, bytes, flow) }),
      },
      limits: { ...defaultMessageLimits, ...options.limits },
      clock,
      maxConnections,
      announce: options.announce,
      announceTo: options.announceTo,
      tls: options.tls,
      tlsPeers: options.tlsPeers,
      viaPortNetworks: options.viaPortNetworks,
      gatekeeper: shield,
    })
    const transactions = new Transactions(clock, timers, fault)
    this.#dns = options.dns ?? new SystemDns(options.nameServers)
    const router = new SipRouter({ reach: transports, dns: this.#dns, clock, fault })
    this.#router = router
    const reach = new Reach({ dns: this.#dns, clock, fault, settings: options.reach })
    this.#reach = reach
    const dialogs = new Dialogs()
    const cdrs = new Cdrs(this.#apps)
    const registeredFlows = new RegisteredFlows(clock, (address) => shield.isKnown(address))
    const subscriptions = new Subscriptions(clock, timers, dialogs)
    const kept = {
      transactions,
      dialogs,
      registeredFlows,
      subscriptions,
      refusals,
      diversions: this.#diversions,
    }
    this.#context = {
      clock,
      timers,
      transports,
      router,
      reach,
      shield,
      cdrs,
      userAgent,
      deliversTrying,
      ...kept,
    }
    this.#answers = new Unacked2xx(this.#context, (dialog) => hangUp(this.#context, dialog, ackTimeout))
    const sessions = new AppSessions({
      apps: this.#apps,
      clock,
      requests: {
        sip: (app, msgId, fields, message) => this.#sip(app, msgId, fields, message),
        proxy: (app, msgId, fields, message) => {
          const raw = this.#parse(app, msgId, message)
          if (raw) this.#proxies.start(app, msgId, fields, raw)
        },
        lost: (app) => this.#lost(app),
      },
      fault,
      hostports: () => this.#hostports(),
      maxBacklog: options.maxBacklog ?? 1 << 24,
    })
    this.#server = new AppServer(sessions, secret)
    const finder = new AppFinder({
      handlers: options.handlers ?? [],
      apps: this.#apps,
      sessions,
      clock,
      secret,
    })
    this.#incoming = new IncomingRequests(this.#context, finder, this.#answers)
    this.#outgoing = new OutgoingRequests(this.#context, this.#answers)
    this.#proxies = new Proxies(this.#context, this.#incoming, fault)
    const parts = {
      context: this.#context,
      incoming: this.#incoming,
      answers: this.#answers,
      proxies: this.#proxies,
    }
    const receiver = new Receiver({ ...parts, fault, maxTransactions, understood })
    this.#receiver = receiver
  }

  /**
   * Binds every address, opens the application port and returns that port. If an address cannot be bound,
   * closes all of them and rejects.
   */
  async start(listen: SipAgentOptions['listen']): Promise<number> {
    try {
      for (const each of listen) await this.#context.transports.open(each)
      return await this.#server.listen()
    } catch (error) {
      await this.#context.transports.close()
      throw error
    }
  }

  /** The bound addresses. */
  get addresses(): SipAddress[] {
    return this.#context.transports.addresses.map(toAddress)
  }

  /** Current gauges and counters. */
  get stats(): SipAgentStats {
    return {
      transactions: this.#context.transactions.size,
      dialogs: this.#context.dialogs.size,
      pending: this.#incoming.size + this.#outgoing.size + this.#proxies.size,
      unacknowledged: this.#answers.size + this.#incoming.latePracks.size,
      connections: this.#context.transports.connections,
      applications: this.#apps.size,
      strays: this.#receiver.strays,
      dropped: this.#shield.dropped,
      refused: this.#refusals.counts,
      diverted: this.#diversions.count,
      banned: this.#shield.banned,
      registeredFlows: this.#context.registeredFlows.size,
    }
  }

  /**
   * Returns the latest messages with one of these Call-IDs, the oldest first, without secrets. Empty if the
   * options have no `trace`.
   */
  trace(callIds: readonly string[]): readonly TracedMessage[] {
    const { transports } = this.#context
    return (this.#trace?.find(callIds) ?? []).map((message) => ({
      ...message,
      local: { ...message.local, address: transports.ownHost(message.local, message.remote.address) },
    }))
  }

  /** Applies new settings. Open connections and calls stay. */
  change(change: SipAgentChange): void {
    if (change.shield) this.#shield.change(change.shield)
    if (change.reach) this.#reach.change(change.reach)
    this.#context.transports.change(change)
  }

  /** Counts a failed sign-in against an address, which must be the sender's proven address. */
  failedSignIn(address: string): void {
    this.#shield.recordOffense(address, true, 'sign-in')
  }

  /** Closes every socket. Sends nothing to peers or applications. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#incoming.close()
    this.#proxies.close()
    this.#outgoing.close()
    this.#context.registeredFlows.close()
    this.#context.subscriptions.close()
    this.#answers.close()
    this.#router.close()
    this.#reach.close()
    this.#dns.close?.()
    this.#context.transactions.close()
    await Promise.all([this.#server.close(), this.#context.transports.close()])
  }

  /** Parses a message of an application. If it is malformed, answers the frame and returns undefined. */
  #parse(app: App, msgId: string, message: Buffer): RawMessage | undefined {
    try {
      return parseFromApp(message, appLimits)
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error
      app.reject(msgId, `invalid ${error.message}`)
      return undefined
    }
  }

  /** Handles a `sip` frame. The protocol defines the order of the tests. */
  #sip(app: App, msgId: string, fields: readonly string[], message: Buffer) {
    const [txnId = '', id = '', nextHop = ''] = fields
    const raw = this.#parse(app, msgId, message)
    if (!raw) return
    if (raw.kind === 'response') {
      if (txnId === '') return app.rejectAndClose(msgId, 'transaction id missing')
      return this.#incoming.respond(app, msgId, txnId, raw)
    }
    if (id !== '') return this.#outgoing.inDialog(app, msgId, id, raw)
    if (txnId !== '' && raw.method === 'CANCEL') return this.#outgoing.cancel(app, msgId, txnId, raw)
    this.#outgoing.request(app, msgId, raw, nextHop)
  }

  /**
   * Cleans up after a lost connection to an application: rejects pending requests, cancels INVITEs and ends
   * calls.
   */
  #lost(app: App) {
    if (this.#isClosed) return
    this.#incoming.lost(app)
    this.#outgoing.lost(app)
    for (const dialog of this.#context.dialogs.of(app)) {
      if (!dialog.isConfirmed) continue
      // A subscription has no BYE. The far end learns of the end by the 481 to its next request.
      if (dialog.isSubscription) {
        this.#context.dialogs.remove(dialog)
        continue
      }
      this.#answers.whenSettled(dialog, () => hangUp(this.#context, dialog, appLost))
    }
  }

  #hostports(): { announced: string; bound: string } {
    const { transports } = this.#context
    const text = (host: string, protocol: string, port: number) => `${protocol}/${formatHost(host)}:${port}`
    const addresses = transports.addresses
    return {
      announced: addresses.map((each) => text(transports.ownHost(each), each.protocol, each.port)).join(','),
      bound: addresses.map((each) => text(each.address, each.protocol, each.port)).join(','),
    }
  }
}
