import { randomBytes, randomInt } from 'node:crypto'
import { MessageChannel } from 'node:worker_threads'
import { type MediaClock, systemClock } from '../clock.ts'
import type { Edge, EdgeFailure, FarEnd, MediaPort, Mixer, MixerOptions, PortOptions } from '../types.ts'
import { EdgeMixer } from './edge-mixer.ts'
import { EdgeError } from './errors.ts'
import { checkOptions, type EdgeOptions, isOwnAddress, type LocalAddress, localAddresses } from './options.ts'
import { EdgePort } from './port.ts'
import type { OpenCommand, Report } from './protocol.ts'
import { endAll, type ThreadSlot, ThreadSlots } from './thread-slots.ts'

export type { EdgeOptions } from './options.ts'

/**
 * Starts the edge with all its threads. Rejects with an {@link EdgeError} of `code` `bad_options` for an
 * invalid range, address or number of threads, and `failed` if a thread does not start.
 */
export async function createEdge(options: EdgeOptions): Promise<Edge> {
  checkOptions(options)
  const edge = new ThreadedEdge(options)
  await edge.start()
  return edge
}

/** Address of the ports towards mediasoup. */
const loopback = '127.0.0.1'

type Opened = (report: Extract<Report, { op: 'opened' | 'failed' }>) => void

class ThreadedEdge implements Edge {
  #options: EdgeOptions
  #clock: MediaClock
  #addresses: readonly LocalAddress[]
  /** Groups of the carrier ports, by RTP port. */
  #groups = new Map<number, string>()
  #slots: ThreadSlots
  #ports = new Map<number, { readonly port: EdgePort; readonly slot: ThreadSlot }>()
  #mixers = new Map<number, EdgeMixer>()
  /** Ports whose sockets are being opened. */
  #opening = new Map<number, { readonly slot: ThreadSlot; readonly settle: Opened }>()
  #numbers = 0
  #onFailure: ((failure: EdgeFailure) => void) | undefined
  #closing: Promise<void> | undefined

  constructor(options: EdgeOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#addresses = localAddresses(options)
    this.#slots = new ThreadSlots(options, this.#clock, () => ++this.#numbers, {
      onReport: (slot, report) => this.#onReport(slot, report),
      onDeath: (slot, error) => this.#onDeath(slot, error),
      numberOf: (slot, port) => {
        const own = this.#own(port)
        return own?.slot === slot ? own.port.number : undefined
      },
    })
  }

  async start(): Promise<void> {
    try {
      await this.#slots.start()
    } catch (error) {
      await this.close()
      throw new EdgeError('failed', `a media thread did not start: ${(error as Error).message}`)
    }
  }

  get portCount(): number {
    return this.#ports.size
  }

  usage(): ReturnType<Edge['usage']> {
    return this.#slots.usage()
  }

  onFailure(listener: (failure: EdgeFailure) => void): void {
    this.#onFailure = listener
  }

  async open(options: PortOptions): Promise<MediaPort> {
    if (this.#closing) throw new EdgeError('closed', 'the edge is closed')
    const slot = this.#slots.enter(options.group, options.kind)
    try {
      return options.kind === 'carrier'
        ? await this.#openCarrier(slot, options)
        : await this.#openLoopback(slot, options)
    } catch (error) {
      this.#slots.exit(options.group)
      throw error
    }
  }

  join(a: MediaPort, b: MediaPort): void {
    const first = this.#own(a)
    const second = this.#own(b)
    if (!first || !second) return
    if (a === b) throw new EdgeError('not_joinable', 'a port cannot be joined to itself')
    for (const { port } of [first, second]) port.mixer?.forget(port)
    const port = first.port.number
    const other = second.port.number
    if (first.slot === second.slot) {
      first.slot.thread.send({ op: 'join', port, other })
      return
    }
    const { port1, port2 } = new MessageChannel()
    const options = { rate: 16_000, isContinuous: false } as const
    first.slot.thread.send({ op: 'link', port, link: port1, options }, [port1])
    second.slot.thread.send({ op: 'link', port: other, link: port2, options }, [port2])
  }

  detach(port: MediaPort): void {
    const own = this.#own(port)
    if (!own) return
    own.port.mixer?.forget(own.port)
    own.slot.thread.send({ op: 'detach', port: own.port.number })
  }

  async openMixer({ rate = 16_000 }: MixerOptions = {}): Promise<Mixer> {
    if (this.#closing) throw new EdgeError('closed', 'the edge is closed')
    const mixer = new EdgeMixer(++this.#numbers, rate, {
      slotOf: (port) => this.#own(port)?.slot,
      anySlot: () => this.#slots.emptiest,
      leave: (port) => port.mixer?.remove(port),
      onClosed: (closed) => this.#mixers.delete(closed.number),
    })
    this.#mixers.set(mixer.number, mixer)
    return mixer
  }

  get busy(): Edge['busy'] {
    return { mixers: this.#mixers.size, ...this.#slots.busy() }
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#mixers.values()].map((mixer) => mixer.close()))
    await Promise.all([...this.#ports.values()].map(({ port }) => port.close()))
    await this.#slots.close()
    for (const [number, { settle }] of this.#opening) {
      settle({ op: 'failed', port: number, taken: false, message: 'the edge is closed' })
    }
    this.#opening.clear()
    for (const { port } of this.#ports.values()) port.die()
  }

  /** Returns the entry of an open port of this edge. */
  #own(port: MediaPort): { readonly port: EdgePort; readonly slot: ThreadSlot } | undefined {
    if (!(port instanceof EdgePort) || port.isClosed) return undefined
    return this.#ports.get(port.number)
  }

  async #openCarrier(slot: ThreadSlot, options: PortOptions): Promise<MediaPort> {
    const { pool } = slot
    const taken: number[] = []
    try {
      for (;;) {
        const rtpPort = pool.take(this.#clock.now())
        if (rtpPort === undefined) throw new EdgeError('no_ports', 'no RTP port is free')
        const command = {
          bind: this.#addresses.map(({ bind }) => bind),
          rtpPort,
          startTimeoutMs: options.startTimeoutMs ?? this.#options.startTimeoutMs,
          mediaTimeoutMs: options.mediaTimeoutMs ?? this.#options.mediaTimeoutMs,
        }
        const port = await this.#bind(slot, options.group, command, () =>
          pool.give(this.#clock.now(), rtpPort),
        )
        if (port) return port
        // Another program uses the pair: the pair goes to quarantine, and the next one is tried.
        taken.push(rtpPort)
      }
    } finally {
      for (const rtpPort of taken) pool.give(this.#clock.now(), rtpPort)
    }
  }

  async #openLoopback(slot: ThreadSlot, options: PortOptions): Promise<MediaPort> {
    const port = await this.#bind(slot, options.group, { bind: [loopback] }, () => {})
    if (!port) throw new EdgeError('no_ports', 'the system has no UDP port free')
    return port
  }

  /**
   * Opens the sockets. Returns undefined if the port is taken; on other failures returns the port to the pool
   * and throws.
   */
  async #bind(
    slot: ThreadSlot,
    group: string,
    socket: Pick<OpenCommand, 'bind' | 'rtpPort' | 'startTimeoutMs' | 'mediaTimeoutMs'>,
    giveBack: () => void,
  ): Promise<EdgePort | undefined> {
    const number = ++this.#numbers
    // The sequence number starts in the lower half. The first packets may be lost, so it must not roll over
    // among them (RFC 3711 section 3.3.1).
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
    slot: ThreadSlot,
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
    if (carrier) this.#groups.set(made.rtpPort, made.group)
    const port = new EdgePort({
      number: made.number,
      group: made.group,
      addresses: carrier ? this.#addresses.map(({ announce }) => announce) : [loopback],
      port: made.rtpPort,
      rtcpPort: carrier ? made.rtpPort + 1 : made.rtpPort,
      ssrc: made.seed.ssrc,
      isOwn: (far) => carrier && this.#isOf(made.group, far),
      command: (command) => slot.thread.send(command),
      recordings: slot.recordings,
      taps: slot.taps,
      detections: slot.detections,
      onClosed: (port) => {
        port.mixer?.forget(port)
        this.#ports.delete(made.number)
        if (carrier) this.#groups.delete(made.rtpPort)
        this.#slots.exit(made.group)
        made.giveBack()
      },
    })
    this.#ports.set(made.number, { port, slot })
    return port
  }

  /**
   * Whether a far end is a carrier port of the same group, so that the audio would circulate within the call.
   */
  #isOf(group: string, { address, port }: FarEnd): boolean {
    if (this.#groups.get(port - (port % 2)) !== group) return false
    return isOwnAddress(address, this.#addresses)
  }

  #onReport(slot: ThreadSlot, report: Report): void {
    switch (report.op) {
      case 'priority':
        this.#options.onPriority?.(report.priority)
        break
      case 'opened':
      case 'failed': {
        const opening = this.#opening.get(report.port)
        this.#opening.delete(report.port)
        opening?.settle(report)
        break
      }
      case 'recorded':
        slot.recordings.recorded(report.record, report.result)
        break
      case 'frame':
        slot.taps.frame(report.tap, report.frame)
        break
      case 'spoken':
        slot.taps.spoken(report.tap, report.request)
        break
      case 'cut':
        slot.taps.cut(report.tap, report.request, report.positions)
        break
      case 'tapEvent':
        slot.taps.event(report.tap, report.event)
        break
      case 'tapClosed':
        slot.taps.closed(report.tap)
        break
      case 'found':
        slot.detections.found(report.detection, report.finding)
        break
      case 'detectionEnded':
        slot.detections.ended(report.detection)
        break
      case 'speaker':
        this.#mixers.get(report.mixer)?.setSpeaker(report.port)
        break
      case 'encodedMixes':
        for (const { mixer, packet, delayMs } of report.packets)
          this.#mixers.get(mixer)?.encoded(packet, delayMs)
        break
      case 'talking':
        this.#mixers.get(report.mixer)?.setTalking(report.port, report.talk)
        break
      case 'played':
        this.#mixers.get(report.port)?.played(report.play)
        this.#ports.get(report.port)?.port.report(report)
        break
      default:
        this.#ports.get(report.port)?.port.report(report)
    }
  }

  #onDeath(slot: ThreadSlot, error: Error): void {
    for (const [number, opening] of this.#opening) {
      if (opening.slot !== slot) continue
      this.#opening.delete(number)
      opening.settle({ op: 'failed', port: number, taken: false, message: error.message })
    }
    const dead = [...this.#ports.values()].filter((own) => own.slot === slot).map(({ port }) => port)
    for (const port of dead) port.die()
    endAll(slot, error.message)
    for (const mixer of [...this.#mixers.values()]) if (mixer.slot === slot) mixer.die()
    this.#onFailure?.({ error, ports: dead.map(({ id }) => id) })
  }
}
