import { createWorker, type types } from 'mediasoup'
import { codecFacts } from '../codecs/facts.ts'
import { type Candidate, candidatesOf, type Listen } from './announce.ts'
import { WebRtcError } from './errors.ts'
import { ownFormat } from './sdp/negotiate.ts'

/** What a {@link MediaWorker} needs to start. */
export interface WorkerSettings {
  readonly listen: readonly Listen[]
  /** Addresses for candidates. */
  readonly addresses: readonly string[]
  /** UDP and TCP port of all browsers of this worker. */
  readonly port: number
  /** Ports on 127.0.0.1 between the worker and the edge, inclusive. */
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

/** A running mediasoup worker process with its one WebRTC server, and a router in it. */
export interface MediaWorker {
  readonly pid: number
  readonly router: types.Router
  readonly server: types.WebRtcServer
  readonly candidates: readonly Candidate[]
  readonly relayPorts: WorkerSettings['relayPorts']
  /** Browser transports that are open in it. */
  readonly transports: Set<types.WebRtcTransport>
  readonly tenants: Set<Tenant>
}

/** Number of Opus in the router that there is from the start: that of nearly all browsers. */
const usualOpus = ownFormat('opus').payloadType

const codecsWith = (opus: number): types.RouterRtpCodecCapability[] => [
  { kind: 'audio', mimeType: 'audio/opus', clockRate: 48_000, channels: 2, preferredPayloadType: opus },
  ...(['PCMU', 'PCMA', 'G722'] as const).map((codec) => ({
    ...{ kind: 'audio' as const, mimeType: `audio/${codec}`, clockRate: codecFacts[codec].clockRate },
    preferredPayloadType: ownFormat(codec).payloadType,
  })),
  { kind: 'video', mimeType: 'video/VP8', clockRate: 90_000 },
  {
    kind: 'video',
    mimeType: 'video/H264',
    clockRate: 90_000,
    parameters: { 'packetization-mode': 1, 'profile-level-id': '42e01f', 'level-asymmetry-allowed': 1 },
  },
]

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
  /**
   * By the number of Opus. What a router sends has the router's numbers, and what a browser receives has to have those of its own offer (RFC 3264
   * section 6.1): a browser with another number needs another router.
   */
  readonly routers: Map<number, Promise<types.Router>>
}

const routerOf = ({ routers, worker }: Process, opus: number): Promise<types.Router> => {
  const known = routers.get(opus)
  if (known) return known
  const made = worker.createRouter({ mediaCodecs: codecsWith(opus) })
  routers.set(opus, made)
  made.catch(() => routers.delete(opus))
  return made
}

const startProcess = async (settings: WorkerSettings): Promise<Process> => {
  const worker = await createWorker({
    logLevel: settings.logLevel,
    ...(settings.program !== undefined && { workerBin: settings.program }),
  })
  try {
    const server = await worker.createWebRtcServer({ listenInfos: listenInfos(settings) })
    const router = await worker.createRouter({ mediaCodecs: codecsWith(usualOpus) })
    const candidates = candidatesOf(settings.addresses, settings.port)
    const { relayPorts } = settings
    return {
      worker,
      pid: worker.pid,
      router,
      server,
      candidates,
      relayPorts,
      routers: new Map([[usualOpus, Promise.resolve(router)]]),
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

  /**
   * The running worker, with the router in which Opus has this payload type; starts one when there is none. Rejects with what kept it
   * from starting, or `closed`.
   */
  async get(opus: number = usualOpus): Promise<MediaWorker> {
    const worker = await this.#ready()
    this.#used = true
    return opus === usualOpus ? worker : { ...worker, router: await routerOf(worker, opus) }
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
    this.#onDeath(reason)
    // What keeps it from starting is told to whoever asks next.
    if (this.#used) this.#ready().catch(() => undefined)
  }
}
