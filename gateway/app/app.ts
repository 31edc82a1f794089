import type { SipAgent } from '@trunkline/sip-agent'
import { type ReadConfig, readConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import type { Certificates } from '../auth/certificates.ts'
import type { RunAgent } from '../calling/operations/agent-operation.ts'
import type { Arrival, Arrivals } from '../calls/call/arrival.ts'
import type { Originator } from '../calls/connect/origination.ts'
import type { Calls } from '../calls/session/calls.ts'
import type { CdrStore } from '../cdr/cdr-store.ts'
import { takeDataFolder } from '../cluster/data-folder.ts'
import { SystemClock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { makeFolder } from '../core/make-folder.ts'
import { Metrics } from '../core/metrics.ts'
import { Origins } from '../core/web/origins.ts'
import { ConfigFollowers } from '../directory/provision/config-followers.ts'
import type { Write } from '../directory/store/sqlite.ts'
import { ControlSocket } from '../operator/control-socket.ts'
import { Operator } from '../operator/operator.ts'
import { ConfigReload, type ReloadRequest, type ReloadResult } from '../reload/config-reload.ts'
import type { RealtimeDialect } from '../rpc/realtime/realtime-dialect.ts'
import { LoadMeter } from '../sip/admission/load-meter.ts'
import { RecentRefusals } from '../sip/admission/recent-refusals.ts'
import type { SipEdge } from '../sip/sip-edge.ts'
import { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { CarrierQuotas, quotaLimits } from '../sip/trunks/carrier-quotas.ts'
import type { DialPolicy } from '../sip/trunks/dial-policy.ts'
import { allOrNone, CloseStack } from './close-stack.ts'
import { configWarnings } from './config-check.ts'
import {
  type AppContext,
  type OnFailure,
  type OpenedMedia,
  type OpenedStore,
  openAgent,
  openCertificates,
  openCustomers,
  openMedia,
  openRecordings,
  openStore,
} from './open.ts'
import { openApplications } from './open-applications.ts'
import { type OpenedBrowsers, openBrowsers } from './open-browsers.ts'
import { type OpenedCalls, openCalls } from './open-calls.ts'
import { openCdrs, openHistory, openRoomHistory } from './open-cdrs.ts'
import { openHttp } from './open-http.ts'
import { openPush } from './open-push.ts'
import { openRestApi } from './open-rest-api.ts'
import { openRooms } from './open-rooms.ts'
import { type OpenedSip, openDialPolicy, openSip } from './open-sip.ts'
import type { ListenAddresses } from './startup-banner.ts'
import { watchAgent } from './watch-agent.ts'

/** Collaborators and values of an {@link App}. */
export interface AppOptions {
  /** The configuration file, absolute; reloads read it again. */
  readonly file: string
  readonly started: ReadConfig
  /** Called when an operator wants the gateway to drain and stop. */
  readonly onDrain: (graceMs?: number) => void
}

/** Stand-in for the calls. The edges deliver calls to it, and are created before the calls are. */
class LateCalls implements Arrivals {
  opened: Calls | undefined

  get count(): number {
    return this.opened?.count ?? 0
  }

  arrive(arrival: Arrival): void {
    this.opened?.arrive(arrival)
  }
}

/**
 * Composition root: creates every component in order, and closes them in reverse order. Together with the
 * `open…` functions of this folder it is the only place that connects components with each other.
 */
export class App {
  readonly #config: Config
  readonly #log: Log
  readonly #closing: CloseStack
  readonly #onFailure: OnFailure
  readonly #refusals = new RecentRefusals()
  readonly #metrics = new Metrics()
  readonly #clock = new SystemClock()
  /** Clock of calls alone, so that the gauge of their timers is zero without calls. */
  readonly #callClock = new SystemClock()
  #sip: SipEdge | undefined
  /** Calls for the edges, which are created before the calls are. */
  readonly #calls = new LateCalls()
  readonly #carriers: CarrierDirectory
  readonly #dialPolicy: DialPolicy
  readonly #quotas: CarrierQuotas
  #store: OpenedStore | undefined
  #load: LoadMeter | undefined
  #addresses: ListenAddresses = { sip: [], http: [] }
  #notReady: readonly string[] = ['starting']
  readonly #followers = new ConfigFollowers()
  readonly #reload: ConfigReload
  readonly #onDrain: AppOptions['onDrain']
  readonly #startedAt: number

  private constructor({ file, started, onDrain }: AppOptions, log: Log, onFailure: OnFailure) {
    this.#config = started.config
    this.#onDrain = onDrain
    this.#startedAt = this.#clock.now()
    this.#log = log
    this.#closing = new CloseStack(log)
    this.#onFailure = onFailure
    this.#carriers = new CarrierDirectory([], this.#clock)
    this.#dialPolicy = openDialPolicy(this.#base, this.#carriers)
    this.#quotas = new CarrierQuotas(quotaLimits(started.config), this.#clock)
    this.#metrics.gauge('attributed_calls', () => this.#quotas.attributed)
    this.#followers.change('limits.carrierCalls', (next) => this.#quotas.change(quotaLimits(next)))
    this.#followers.change('log.level', (next) => {
      log.level = next.log.level
    })
    this.#reload = new ConfigReload({
      file,
      started,
      log,
      followers: this.#followers,
      clock: this.#clock,
      metrics: this.#metrics,
      read: readConfig,
      warnings: configWarnings,
      transaction: (work) => this.#transaction(work),
    })
  }

  /** Starts every component. If one fails to start, closes the others and rejects. */
  static async start(options: AppOptions, log: Log, onFailure: OnFailure): Promise<App> {
    const app = new App(options, log, onFailure)
    try {
      await app.#compose()
      return app
    } catch (error) {
      await app.close()
      throw error
    }
  }

  /** Addresses that the gateway listens on. */
  get addresses(): ListenAddresses {
    return this.#addresses
  }

  /** Configuration in force; a reload changes it. */
  get config(): Config {
    return this.#reload.config
  }

  /**
   * Stops readiness and rejects new calls. After the grace period, hangs up the calls that are still in
   * progress. `graceMs`: default that of the configuration.
   */
  async drain(graceMs = this.config.drainMs): Promise<void> {
    this.#notReady = ['draining']
    this.#reload.close()
    this.#sip?.drain()
    await this.#calls.opened?.drain(graceMs)
  }

  /** Ends the grace period of {@link drain} at once. */
  hurry(): void {
    this.#calls.opened?.endAll({ code: 'draining' })
  }

  /** Applies the present configuration file and its certificates. A file with faults changes nothing. */
  reload(request: ReloadRequest): Promise<ReloadResult> {
    return this.#reload.reload(request)
  }

  /** Closes every component, the most recently opened first. Idempotent. */
  close(): Promise<void> {
    return this.#closing.close()
  }

  async #compose(): Promise<void> {
    makeFolder(this.#config.dataDir)
    this.#closing.add('data folder', takeDataFolder(this.#config.dataDir), (folder) => folder.release())
    // The slowest components start in parallel.
    const base = this.#base
    const certificates = await openCertificates(base)
    const [store, media, agent] = await allOrNone([
      openStore(base, this.#carriers, this.#metrics),
      openMedia(base, this.#metrics),
      openAgent(base, { certificates, refusals: this.#refusals }, this.#onFailure),
    ])
    this.#store = store
    const customers = await openCustomers(base, store, this.#metrics)
    const push = await openPush(base, store, customers, this.#metrics)
    const history = openHistory(base, store, this.#metrics)
    const browsers = openBrowsers(
      base,
      store,
      {
        webrtc: media.webrtc,
        edge: media.edge,
        arrivals: this.#calls,
        push,
        history,
        carriers: this.#carriers,
        quotas: this.#quotas,
      },
      this.#metrics,
    )
    const openedSip = openSip(
      base,
      agent,
      {
        directory: store.directory,
        media,
        calls: this.#calls,
        carriers: this.#carriers,
        dialPolicy: this.#dialPolicy,
        quotas: this.#quotas,
        refusals: this.#refusals,
      },
      { clock: this.#callClock, steadyClock: this.#clock, busyPercent: () => this.#load?.busyPercent ?? 0 },
      this.#metrics,
    )
    const { sip, endpoints } = openedSip
    this.#sip = sip
    // Recordings send their last callbacks while they close, so they close before the callbacks do.
    const recordings = await openRecordings(
      base,
      store,
      { ...customers, ffmpeg: media.ffmpeg },
      this.#metrics,
      () => this.#addresses.http[0],
    )
    const records = await openCdrs(base, store, customers, this.#metrics)
    const roomHistory = await openRoomHistory(base, store, customers, this.#metrics)
    await history.loadInterrupted()
    const originator: Originator = { originate: (origination) => this.#calls.opened!.originate(origination) }
    const rooms = openRooms(
      base,
      { store, media, recordings, customers, history: roomHistory, clock: this.#callClock },
      this.#metrics,
    )
    const { access } = store
    const runAgent: RunAgent = (control, request) => opened.runAgent(control, request)
    const applications = openApplications(base, { access, originator, rooms, runAgent }, this.#metrics)
    const opened = openCalls(
      base,
      {
        store,
        media,
        outbound: { sip, endpoints, subscribers: browsers.ringer },
        dialPolicy: this.#dialPolicy,
        applications,
        rooms,
        recordings,
        customers,
        records,
        clock: this.#callClock,
      },
      this.#metrics,
    )
    this.#calls.opened = opened.calls
    this.#watch(media, agent)
    const reasons = () => this.#reasons()
    const operator = this.#openOperator({
      opened,
      openedSip,
      records,
      store,
      browsers,
      applications,
      certificates,
      agent,
    })
    const origins = new Origins(this.#config.http.origins)
    const api = await openRestApi(
      base,
      {
        store,
        origins,
        opened,
        carriers: this.#carriers,
        callbacks: customers.callbacks,
        recordings,
        cdrs: records,
        subscriberCalls: history,
        roomHistory,
        presence: browsers.presence,
      },
      this.#metrics,
    )
    const http = await openHttp(
      base,
      {
        store,
        certificates,
        origins,
        api,
        dialects: { browsers, applications },
        operator: { token: () => this.config.http.operatorToken, operator, clock: this.#clock },
        reasons,
      },
      this.#metrics,
    )
    await sip.start()
    // Created after the start, so that the load of starting does not count as overload.
    this.#load = this.#openLoad(agent)
    this.#addresses = { sip: sip.hostports, ...http }
    await recordings.reportEnds()
    const { requests } = operator
    const control = await ControlSocket.open({
      dataDir: this.#config.dataDir,
      requests,
      clock: this.#clock,
      log: this.#log,
    })
    this.#closing.add('control socket', control, (open) => open.close())
    this.#notReady = []
  }

  async #transaction(work: (write: Write) => Promise<void>): Promise<void> {
    await this.#store?.directory.transaction(work)
  }

  get #base(): AppContext {
    return {
      config: this.#config,
      clock: this.#clock,
      log: this.#log,
      closing: this.#closing,
      followers: this.#followers,
    }
  }

  #openOperator(parts: OperatorSources): Operator {
    const { opened, openedSip, records, store, browsers, applications, certificates, agent } = parts
    const { calls, recent } = opened
    const { registrations } = openedSip
    const refusals = this.#refusals
    return new Operator({
      calls: {
        get rowsInProgress() {
          return records.rowsInProgress
        },
        inProgress: (id) => calls.inProgress(id),
      },
      recent,
      refusals,
      agent,
      clock: this.#clock,
      reload: (request) => this.reload(request),
      drain: (graceMs) => this.#onDrain(graceMs),
      presence: {
        directory: store.directory,
        browsers: (id) => browsers.presence.online(id).length,
        contacts: (id) => registrations.of(id).length,
        listeners: (project, topic) => applications.listeners(project, topic),
      },
      status: () => ({
        startedAt: this.#startedAt,
        now: this.#clock.now(),
        reasons: this.#reasons(),
        isDraining: this.#notReady.includes('draining'),
        calls: { count: calls.count, legs: calls.legs, limit: this.config.limits.calls },
        listeners: this.#addresses,
        carriers: this.#carriers.all,
        registrations: registrations.size,
        browsers: browsers.presence.browsers,
        subscribersOnline: browsers.presence.subscribersOnline,
        store: { name: storeName(this.#config), isWritable: store.nodes.holdsLease },
        certificates: certificates.secondsLeft,
        refusals: refusals.size,
        agent,
      }),
    })
  }

  #openLoad(agent: SipAgent | undefined): LoadMeter {
    const own = () => performance.eventLoopUtilization()
    const meter = new LoadMeter(this.#clock, agent ? [own, () => agent.eventLoop()] : [own])
    this.#metrics.gauge('load_percent', () => Math.round(meter.busyPercent))
    return this.#closing.add('load meter', meter, (open) => open.close())
  }

  #watch({ edge }: OpenedMedia, agent: SipAgent | undefined): void {
    edge.onFailure(({ error, ports }) => {
      this.#log.error({ event: 'media.thread-died', err: error, ports: ports.length }, 'media thread died')
      this.#calls.opened?.portsLost(ports)
    })
    if (agent) watchAgent(agent, this.#metrics)
  }

  #reasons(): readonly string[] {
    if (this.#notReady.length > 0) return this.#notReady
    return this.#sip?.isConnected ? [] : ['the SIP agent is not connected']
  }
}

/** Opened components that the operator looks at. */
interface OperatorSources {
  readonly opened: OpenedCalls
  readonly openedSip: OpenedSip
  readonly records: CdrStore
  readonly store: OpenedStore
  readonly browsers: OpenedBrowsers
  readonly applications: RealtimeDialect
  readonly certificates: Certificates
  readonly agent: SipAgent | undefined
}

/** Returns the name of the database, without credentials. */
const storeName = ({ store: { url }, dataDir }: Config): string =>
  url === undefined ? `SQLite in ${dataDir}` : `PostgreSQL at ${new URL(url).host}`
