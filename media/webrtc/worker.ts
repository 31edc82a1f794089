import { createWorker, type types } from 'mediasoup'
import { guarded } from '../edge/guarded.ts'
import { type Candidate, candidatesOf, type Listen } from './announce.ts'
import { WebRtcError } from './errors.ts'
import { Routers } from './routers.ts'

/** What a {@link MediaWorker} needs to start. */
export interface WorkerSettings {
  readonly listen: readonly Listen[]
  /** Addresses for candidates. */
  readonly addresses: readonly string[]
  /** UDP and TCP port of all browsers of this worker. */
  readonly port: number
  /** Ports on 127.0.0.1 between the worker and the edge, and between workers or routers, inclusive. */
  readonly relayPorts: { readonly from: number; readonly to: number }
  readonly logLevel: types.WorkerLogLevel
  /** Path of the mediasoup-worker program; default mediasoup's own choice. */
  readonly program?: string
}

/** Whoever has transports in a worker. */
export interface Tenant {
  /** The worker died: every transport in it is gone. */
  lost(): void
  /** The worker is about to be ended. */
  close(): Promise<void>
}

/** A running mediasoup worker process with its one WebRTC server, and the routers in it. */
export interface MediaWorker {
  readonly pid: number
  readonly routers: Pick<Routers, 'audio' | 'audioWithEvents' | 'video'>
  readonly server: types.WebRtcServer
  readonly candidates: readonly Candidate[]
  readonly relayPorts: WorkerSettings['relayPorts']
  /** Browser transports that are open in it. */
  readonly transports: Set<types.WebRtcTransport>
  readonly tenants: Set<Tenant>
}

const listenInfos = (settings: WorkerSettings): types.TransportListenInfo[] =>
  settings.listen.flatMap(({ ip, announced }) =>
    (['udp', 'tcp'] as const).map((protocol) => ({
      protocol,
      ip,
      port: settings.port,
      ...(announced !== undefined && { announcedAddress: announced }),
    })),
  )

interface Process extends MediaWorker {
  readonly worker: types.Worker
}

const startProcess = async (settings: WorkerSettings): Promise<Process> => {
  const worker = await createWorker({
    logLevel: settings.logLevel,
    ...(settings.program !== undefined && { workerBin: settings.program }),
  })
  try {
    const server = await worker.createWebRtcServer({ listenInfos: listenInfos(settings) })
    const routers = new Routers(worker)
    await routers.audio()
    const candidates = candidatesOf(settings.addresses, settings.port)
    const { relayPorts } = settings
    return {
      worker,
      pid: worker.pid,
      routers,
      server,
      candidates,
      relayPorts,
      transports: new Set(),
      tenants: new Set(),
    }
  } catch (error) {
    worker.close()
    throw error
  }
}

/**
 * Keeps one mediasoup worker running. One that dies takes its tenants' transports along and is replaced at once; one that dies
 * without having carried anything is replaced only when it is asked for, so that a worker that cannot live does not spin.
 */
export class WorkerKeeper {
  readonly #settings: WorkerSettings
  readonly #onDeath: (reason: Error) => void
  #current: Process | undefined
  #starting: Promise<Process> | undefined
  #used = false
  #closed = false

  constructor(settings: WorkerSettings, onDeath: (reason: Error) => void) {
    this.#settings = settings
    this.#onDeath = onDeath
  }

  /** Browser transports that are open. */
  get transports(): number {
    return this.#current?.transports.size ?? 0
  }

  /** The running worker; starts one when there is none. Rejects with what kept it from starting, or `closed`. */
  async get(): Promise<MediaWorker> {
    const worker = await this.#ready()
    this.#used = true
    return worker
  }

  /** Starts the worker ahead of its first use. Rejects as {@link get} does. */
  async start(): Promise<void> {
    await this.#ready()
  }

  /** Closes the tenants and ends the process. Idempotent; a start that is under way is waited for. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#starting?.catch(() => undefined)
    const current = this.#current
    this.#current = undefined
    if (!current) return
    await Promise.all([...current.tenants].map((tenant) => tenant.close()))
    current.worker.close()
  }

  #ready(): Promise<Process> {
    if (this.#closed) return Promise.reject(new WebRtcError('closed', 'WebRTC is closed'))
    if (this.#current) return Promise.resolve(this.#current)
    this.#starting ??= this.#launch().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #launch(): Promise<Process> {
    const started = await startProcess(this.#settings)
    this.#used = false
    this.#current = started
    started.worker.on('died', (reason) => this.#died(started, reason))
    if (started.worker.closed) this.#current = undefined
    return started
  }

  #died(process: Process, reason: Error): void {
    if (this.#current === process) this.#current = undefined
    const tenants = [...process.tenants]
    process.tenants.clear()
    for (const tenant of tenants) tenant.lost()
    if (this.#closed) return
    guarded(() => this.#onDeath(reason))
    // What keeps it from starting is told to whoever asks next.
    if (this.#used) this.#ready().catch(() => undefined)
  }
}
