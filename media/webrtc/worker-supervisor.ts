import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { createWorker, type types, workerBin } from 'mediasoup'
import { systemClock } from '../clock.ts'
import { guard } from '../guard.ts'
import { WebRtcError } from './errors.ts'
import { type Candidate, candidatesOf, type Listen } from './listen-addresses.ts'
import { Routers } from './routers.ts'

/** Options of a {@link MediaWorker}. */
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

/** Owner of transports in a worker. */
export interface TransportOwner {
  /** Called after the worker has died and its transports are lost. */
  lost(): void
  /** Called before the worker is ended. */
  close(): Promise<void>
}

/** A running mediasoup worker process with its WebRTC server and routers. */
export interface MediaWorker {
  readonly pid: number
  readonly routers: Pick<Routers, 'audio' | 'audioWithEvents' | 'video'>
  readonly server: types.WebRtcServer
  readonly candidates: readonly Candidate[]
  readonly relayPorts: WorkerSettings['relayPorts']
  /** Open browser transports. */
  readonly transports: Set<types.WebRtcTransport>
  readonly owners: Set<TransportOwner>
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

const signals = ['SIGINT', 'SIGTERM'] as const

/** Program that starts the worker outside of the process group of the gateway. */
const launcher = join(import.meta.dirname, 'mediasoup-worker.sh')

/** Throws if a program cannot be run. The exit code of the launcher alone would not show the reason. */
const requireProgram = (path: string): void => {
  try {
    accessSync(path, constants.X_OK)
  } catch (error) {
    throw new Error(`The mediasoup worker cannot be run: ${path}`, { cause: error })
  }
}

/**
 * Creates a mediasoup worker that outlives a signal to the gateway or to its process group. mediasoup would
 * close it at once. Calls of browsers would lose their audio in the grace period, and a start would never
 * end.
 */
const createLastingWorker = ({ logLevel, program = workerBin }: WorkerSettings): Promise<types.Worker> => {
  requireProgram(program)
  const before = signals.map((signal) => process.listeners(signal))
  // biome-ignore lint/style/noProcessEnv: mediasoup passes no other values to the program
  process.env.TRUNKLINE_MEDIASOUP_WORKER = program
  const creating = createWorker({ logLevel, workerBin: launcher })
  for (const [index, signal] of signals.entries())
    for (const listener of process.listeners(signal))
      if (!before[index]?.includes(listener)) process.off(signal, listener)
  return creating
}

/** Time in ms for a closed worker to end. A worker that hangs is killed. */
const maxEndMs = 2_000

/** Kills a process, unless it has ended by itself. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * Closes a worker, and resolves when its process has ended. Its ports are free from then on, for a gateway
 * that is started next.
 */
const endWorker = async (worker: types.Worker): Promise<void> => {
  if (worker.subprocessClosed) return
  const ended = once(worker, 'subprocessclose')
  worker.close()
  const killing = systemClock.after(maxEndMs, () => kill(worker.pid))
  await ended
  killing.cancel()
}

/** Minimum time after a failed start before another one in the background, in ms. */
const minRetryMs = 5_000

const startProcess = async (settings: WorkerSettings): Promise<Process> => {
  const worker = await createLastingWorker(settings)
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
      owners: new Set(),
    }
  } catch (error) {
    await endWorker(worker)
    throw error
  }
}

/**
 * Keeps one mediasoup worker running. If a worker dies, its transports are lost, and a new worker is started
 * at once. A worker that died before its first use is replaced only on demand, which avoids a restart loop.
 */
export class WorkerSupervisor {
  readonly #settings: WorkerSettings
  readonly #onDeath: (reason: Error) => void
  #current: Process | undefined
  #starting: Promise<Process> | undefined
  /** Time of the last start if it has failed. */
  #failedAt: number | undefined
  #isUsed = false
  #isClosed = false

  constructor(settings: WorkerSettings, onDeath: (reason: Error) => void) {
    this.#settings = settings
    this.#onDeath = onDeath
  }

  /** Whether the last start has failed. */
  get hasFailed(): boolean {
    return this.#failedAt !== undefined
  }

  /** Number of open browser transports. */
  get transports(): number {
    return this.#current?.transports.size ?? 0
  }

  /**
   * Returns the running worker; starts one if necessary. Rejects with the error of the start, or `closed`.
   */
  async get(): Promise<MediaWorker> {
    const worker = await this.#ready()
    this.#isUsed = true
    return worker
  }

  /** Starts the worker before its first use. Rejects like {@link get}. */
  async start(): Promise<void> {
    await this.#ready()
  }

  /** Starts the worker in the background if {@link hasFailed}, at most once in 5 s. */
  retry(): void {
    if (this.#failedAt === undefined || systemClock.now() - this.#failedAt < minRetryMs) return
    // The next request that needs this worker reports the error.
    this.#ready().catch(() => undefined)
  }

  /** Closes the owners, after a pending start. Resolves when the process has ended. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#starting?.catch(() => undefined)
    const current = this.#current
    this.#current = undefined
    if (!current) return
    await Promise.all([...current.owners].map((owner) => owner.close()))
    await endWorker(current.worker)
  }

  #ready(): Promise<Process> {
    if (this.#isClosed) return Promise.reject(new WebRtcError('closed', 'WebRTC is closed'))
    if (this.#current) return Promise.resolve(this.#current)
    this.#starting ??= this.#launch().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #launch(): Promise<Process> {
    const started = await startProcess(this.#settings).catch((error) => {
      this.#failedAt = systemClock.now()
      throw error
    })
    this.#failedAt = undefined
    this.#isUsed = false
    this.#current = started
    started.worker.on('died', (reason) => this.#died(started, reason))
    if (started.worker.closed) this.#current = undefined
    return started
  }

  #died(process: Process, reason: Error): void {
    if (this.#current === process) this.#current = undefined
    const owners = [...process.owners]
    process.owners.clear()
    for (const owner of owners) owner.lost()
    if (this.#isClosed) return
    guard(this.#onDeath)(reason)
    // The error of a failed start is reported to the next request.
    if (this.#isUsed) this.#ready().catch(() => undefined)
  }
}

/**
 * Returns the worker with the fewest transports, which starts first if necessary. If it does not start,
 * returns the next one. Workers whose last start has failed come last, and start again in the background.
 * Rejects with the first error if none starts, and with `closed` for no supervisors.
 */
export const leastLoaded = async (
  supervisors: readonly Pick<WorkerSupervisor, 'hasFailed' | 'transports' | 'get' | 'retry'>[],
): Promise<MediaWorker> => {
  const order = supervisors.toSorted(
    (a, b) => Number(a.hasFailed) - Number(b.hasFailed) || a.transports - b.transports,
  )
  for (const supervisor of supervisors) supervisor.retry()
  let fault: unknown
  for (const supervisor of order) {
    try {
      return await supervisor.get()
    } catch (error) {
      fault ??= error
    }
  }
  throw fault ?? new WebRtcError('closed', 'WebRTC has no worker')
}
