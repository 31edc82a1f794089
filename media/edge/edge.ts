import { randomBytes, randomInt } from 'node:crypto'
import { isIP } from 'node:net'
import type { Edge, EdgeFailure, MediaPort, PortOptions } from '../types.ts'
import { type MediaClock, systemClock } from './clock.ts'
import { EdgeError } from './errors.ts'
import { announced, checkOptions, type EdgeOptions } from './options.ts'
import { PortPool, shareRange } from './pool.ts'
import { EdgePort } from './port.ts'
import type { OpenCommand, Report } from './protocol.ts'
import { MediaThread } from './thread.ts'

export type { EdgeOptions } from './options.ts'

/**
 * Starts the edge with all its threads. Rejects with an {@link EdgeError} `bad_options` for a range, address or number of threads
 * that cannot be, and `failed` when a thread does not start.
 */
export async function createEdge(options: EdgeOptions): Promise<Edge> {
  checkOptions(options)
  const edge = new ThreadedEdge(options)
  await edge.start()
  return edge
}

/** A thread, its share of the range, and how many ports it has. */
interface Slot {
  readonly thread: MediaThread
  readonly pool: PortPool
  ports: number
}

type Opened = (report: Extract<Report, { op: 'opened' | 'failed' }>) => void

class ThreadedEdge implements Edge {
  #options: EdgeOptions
  #clock: MediaClock
  #announce: string
  #total: number
  #slots: Slot[]
  #ports = new Map<number, { readonly port: EdgePort; readonly slot: Slot }>()
  /** Ports that wait for their sockets. */
  #opening = new Map<number, { readonly slot: Slot; readonly settle: Opened }>()
  /** Where a group's ports are, while it has any. */
  #groups = new Map<string, { readonly slot: Slot; ports: number }>()
  #numbers = 0
  #onFailure: ((failure: EdgeFailure) => void) | undefined
  #closing: Promise<void> | undefined

  constructor(options: EdgeOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#announce = options.announce ?? announced(options.bind)
    const shares = shareRange(options.ports, options.threads)
    this.#total = shares.reduce((sum, share) => sum + share.length, 0)
    this.#slots = shares.map((share) => this.#slot(share))
  }

  async start(): Promise<void> {
    try {
      await Promise.all(this.#slots.map((slot) => slot.thread.start()))
    } catch (error) {
      await this.close()
      throw new EdgeError('failed', `a media thread did not start: ${(error as Error).message}`)
    }
  }

  get portCount(): number {
    return this.#ports.size
  }

  usage(): { readonly used: number; readonly total: number; readonly quarantined: number } {
    const now = this.#clock.now()
    let used = 0
    let quarantined = 0
    for (const { pool } of this.#slots) {
      used += pool.used
      quarantined += pool.quarantined(now)
    }
    return { used, total: this.#total, quarantined }
  }

  onFailure(listener: (failure: EdgeFailure) => void): void {
    this.#onFailure = listener
  }

  async open(options: PortOptions): Promise<MediaPort> {
    const slot = this.#enter(options.group, options.kind)
    try {
      return options.kind === 'carrier'
        ? await this.#openCarrier(slot, options)
        : await this.#openLoopback(slot, options)
    } catch (error) {
      this.#exit(options.group)
      throw error
    }
  }

  join(a: MediaPort, b: MediaPort): void {
    const [first, second] = [this.#own(a), this.#own(b)]
    if (!first || !second) return
    if (a.group !== b.group || a === b)
      throw new EdgeError('not_joinable', 'two ports of one group can be joined')
    first.slot.thread.send({ op: 'join', port: first.port.number, other: second.port.number })
  }

  part(port: MediaPort): void {
    const own = this.#own(port)
    own?.slot.thread.send({ op: 'part', port: own.port.number })
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#ports.values()].map(({ port }) => port.close()))
    await Promise.all(this.#slots.map((slot) => slot.thread.close()))
    for (const [number, { settle }] of this.#opening) {
      settle({ op: 'failed', port: number, taken: false, message: 'the edge is closed' })
    }
    this.#opening.clear()
    for (const { port } of this.#ports.values()) port.die()
  }

  /** The port, if it is one of ours and open. */
  #own(port: MediaPort): { readonly port: EdgePort; readonly slot: Slot } | undefined {
    if (!(port instanceof EdgePort) || port.closed) return undefined
    return this.#ports.get(port.number)
  }

  #slot(share: readonly number[]): Slot {
    const slot: Slot = {
      pool: new PortPool(share, this.#options.quarantineMs ?? 30_000, (below) => randomInt(below)),
      ports: 0,
      thread: new MediaThread({
        onReport: (report) => this.#onReport(report),
        onDeath: (error) => this.#onDeath(slot, error),
      }),
    }
    return slot
  }

  /** Finds the thread of a group, or for a new group the one with most room, and counts a port to it. */
  #enter(group: string, kind: PortOptions['kind']): Slot {
    if (this.#closing) throw new EdgeError('closed', 'the edge is closed')
    let entry = this.#groups.get(group)
    if (!entry) {
      const now = this.#clock.now()
      const room = (slot: Slot) => (kind === 'carrier' ? slot.pool.free(now) : 0)
      const slot = this.#slots.reduce((best, next) =>
        room(next) > room(best) || (room(next) === room(best) && next.ports < best.ports) ? next : best,
      )
      entry = { slot, ports: 0 }
      this.#groups.set(group, entry)
    }
    entry.ports++
    entry.slot.ports++
    return entry.slot
  }

  #exit(group: string): void {
    const entry = this.#groups.get(group)
    if (!entry) return
    entry.slot.ports--
    if (--entry.ports === 0) this.#groups.delete(group)
  }

  async #openCarrier(slot: Slot, options: PortOptions): Promise<MediaPort> {
    const { pool } = slot
    const taken: number[] = []
    try {
      for (;;) {
        const rtpPort = pool.take(this.#clock.now())
        if (rtpPort === undefined) throw new EdgeError('no_ports', 'no RTP port is free')
        const command = {
          bind: this.#options.bind,
          rtpPort,
          startTimeoutMs: options.startTimeoutMs ?? this.#options.startTimeoutMs,
          mediaTimeoutMs: options.mediaTimeoutMs ?? this.#options.mediaTimeoutMs,
        }
        const port = await this.#bind(slot, options.group, command, () =>
          pool.give(this.#clock.now(), rtpPort),
        )
        if (port) return port
        // Another program has it: it rests like a closed one, and the next is tried.
        taken.push(rtpPort)
      }
    } finally {
      for (const rtpPort of taken) pool.give(this.#clock.now(), rtpPort)
    }
  }

  async #openLoopback(slot: Slot, options: PortOptions): Promise<MediaPort> {
    const port = await this.#bind(slot, options.group, { bind: '127.0.0.1' }, () => {})
    if (!port) throw new EdgeError('no_ports', 'the system has no UDP port free')
    return port
  }

  /** Opens the sockets. Undefined where somebody else has the port; other failures give it back and throw. */
  async #bind(
    slot: Slot,
    group: string,
    socket: Pick<OpenCommand, 'bind' | 'rtpPort' | 'startTimeoutMs' | 'mediaTimeoutMs'>,
    giveBack: () => void,
  ): Promise<EdgePort | undefined> {
    const number = ++this.#numbers
    // The first packets may be lost, and must not have rolled over by then (RFC 3711 section 3.3.1).
    const seed = { ssrc: randomInt(2 ** 32), sequence: randomInt(2 ** 15), timestamp: randomInt(2 ** 32) }
    const cname = randomBytes(12).toString('base64url')
    const { promise, resolve } = Promise.withResolvers<Parameters<Opened>[0]>()
    this.#opening.set(number, { slot, settle: resolve })
    slot.thread.send({ op: 'open', port: number, seed, cname, ...socket })
    const report = await promise
    if (this.#closing) {
      giveBack()
      throw new EdgeError('closed', 'the edge is closed')
    }
    if (report.op === 'failed') {
      if (report.taken) return undefined
      giveBack()
      throw new EdgeError('failed', `a media port could not be opened: ${report.message}`)
    }
    return this.#register(slot, { number, group, seed, socket, rtpPort: report.rtpPort, giveBack })
  }

  #register(
    slot: Slot,
    made: {
      readonly number: number
      readonly group: string
      readonly seed: OpenCommand['seed']
      readonly socket: Pick<OpenCommand, 'bind' | 'rtpPort'>
      readonly rtpPort: number
      readonly giveBack: () => void
    },
  ): EdgePort {
    const carrier = made.socket.rtpPort !== undefined
    const port = new EdgePort({
      number: made.number,
      group: made.group,
      address: carrier ? this.#announce : made.socket.bind,
      port: made.rtpPort,
      rtcpPort: carrier ? made.rtpPort + 1 : made.rtpPort,
      ssrc: made.seed.ssrc,
      family: isIP(made.socket.bind),
      command: (command) => slot.thread.send(command),
      onClosed: () => {
        this.#ports.delete(made.number)
        this.#exit(made.group)
        made.giveBack()
      },
    })
    this.#ports.set(made.number, { port, slot })
    return port
  }

  #onReport(report: Report): void {
    if (report.op !== 'opened' && report.op !== 'failed') {
      this.#ports.get(report.port)?.port.report(report)
      return
    }
    const opening = this.#opening.get(report.port)
    this.#opening.delete(report.port)
    opening?.settle(report)
  }

  #onDeath(slot: Slot, error: Error): void {
    for (const [number, opening] of this.#opening) {
      if (opening.slot !== slot) continue
      this.#opening.delete(number)
      opening.settle({ op: 'failed', port: number, taken: false, message: error.message })
    }
    const dead = [...this.#ports.values()].filter((own) => own.slot === slot).map(({ port }) => port)
    for (const port of dead) port.die()
    this.#onFailure?.({ error, ports: dead.map(({ id }) => id) })
  }
}
