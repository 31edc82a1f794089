import { Session, type SessionOutput } from '../rtp/session.ts'
import type { MediaClock } from './clock.ts'
import type { Command, OpenCommand, PortNumber, Report } from './protocol.ts'
import type { BindSocket, PortSocket } from './sockets.ts'
import { Ticker } from './ticker.ts'

/** A port inside a media thread. */
interface OpenPort {
  readonly session: Session
  readonly rtp: PortSocket
  /** Absent where both go through one socket. */
  readonly rtcp: PortSocket | undefined
}

/** What a media thread runs: sessions with their sockets, driven by commands. */
export class Engine {
  #clock: MediaClock
  #bind: BindSocket
  #report: (report: Report) => void
  #random: () => number
  #ticker: Ticker
  #ports = new Map<PortNumber, OpenPort>()

  constructor(options: {
    readonly clock: MediaClock
    readonly bind: BindSocket
    readonly report: (report: Report) => void
    /** 0 to 1, as Math.random; for the pace of reports. */
    readonly random: () => number
  }) {
    this.#clock = options.clock
    this.#bind = options.bind
    this.#report = options.report
    this.#random = options.random
    this.#ticker = new Ticker(options.clock)
  }

  /** Ports open in this thread. */
  get size(): number {
    return this.#ports.size
  }

  /** Carries a command out. One about a port that is gone is ignored: a handle sends nothing after its `close`, which is answered. */
  async run(command: Command): Promise<void> {
    if (command.op === 'open') return this.#open(command)
    const port = this.#ports.get(command.port)
    if (command.op === 'close') return this.#close(command.port, command.request, port)
    if (!port) return
    const { session } = port
    switch (command.op) {
      case 'far':
        session.setFar(this.#clock.now(), command.near, command.far)
        break
      case 'join': {
        const other = this.#ports.get(command.other)
        if (other) session.join(other.session)
        break
      }
      case 'part':
        session.part()
        break
      case 'play':
        session.play(command.play, command.samples, command.loop, command.volumeDb)
        break
      case 'stop':
        session.stop(command.play)
        break
      case 'digits':
        session.sendDigits(command.digits, (sent) =>
          this.#report({ op: 'digits', port: command.port, request: command.request, sent }),
        )
        break
      case 'stats':
        this.#report({ op: 'stats', port: command.port, request: command.request, stats: session.stats() })
        break
    }
    this.#ticker.wake(session)
  }

  async #open(command: OpenCommand): Promise<void> {
    const output = new Output(command.port, this.#report)
    const session = new Session(
      {
        anyPort: command.rtpPort !== undefined,
        seed: command.seed,
        cname: command.cname,
        patience: {
          startMs: command.startTimeoutMs ?? Number.POSITIVE_INFINITY,
          mediaMs: command.mediaTimeoutMs ?? Number.POSITIVE_INFINITY,
        },
        random: this.#random,
      },
      output,
    )
    try {
      const { rtp, rtcp } = await this.#bindPair(command, session)
      output.sockets(rtp, rtcp ?? rtp)
      this.#ports.set(command.port, { session, rtp, rtcp })
      this.#ticker.add(session)
      this.#report({ op: 'opened', port: command.port, rtpPort: rtp.port })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      this.#report({ op: 'failed', port: command.port, taken: code === 'EADDRINUSE', message })
    }
  }

  async #bindPair(
    command: OpenCommand,
    session: Session,
  ): Promise<{ rtp: PortSocket; rtcp: PortSocket | undefined }> {
    const clock = this.#clock
    const rtp = await this.#bind(command.bind, command.rtpPort ?? 0, (packet, address, port) =>
      session.receive(clock.now(), packet, address, port),
    )
    if (command.rtpPort === undefined) return { rtp, rtcp: undefined }
    try {
      const rtcp = await this.#bind(command.bind, command.rtpPort + 1, (packet, address, port) =>
        session.receiveRtcp(clock.now(), packet, address, port),
      )
      return { rtp, rtcp }
    } catch (error) {
      await rtp.close()
      throw error
    }
  }

  async #close(number: PortNumber, request: number, port: OpenPort | undefined): Promise<void> {
    if (!port) return
    this.#ports.delete(number)
    this.#ticker.remove(port.session)
    port.session.close(this.#clock.now())
    const stats = port.session.stats()
    await Promise.all([port.rtp.close(), port.rtcp?.close()])
    this.#report({ op: 'stats', port: number, request, stats })
  }
}

/** A session's way out: its sockets, and reports about it. */
class Output implements SessionOutput {
  #port: PortNumber
  #report: (report: Report) => void
  #rtp: PortSocket | undefined
  #rtcp: PortSocket | undefined

  constructor(port: PortNumber, report: (report: Report) => void) {
    this.#port = port
    this.#report = report
  }

  /** Sets what to send by; nothing is sent before a far end is set, and that comes later. */
  sockets(rtp: PortSocket, rtcp: PortSocket): void {
    this.#rtp = rtp
    this.#rtcp = rtcp
  }

  rtp(packet: Buffer, offset: number, length: number, port: number, address: string): void {
    this.#rtp?.send(packet, offset, length, port, address)
  }

  rtcp(packet: Buffer, port: number, address: string, muxed: boolean): void {
    const socket = muxed ? this.#rtp : this.#rtcp
    socket?.send(packet, 0, packet.length, port, address)
  }

  event(event: Parameters<SessionOutput['event']>[0]): void {
    this.#report({ op: 'event', port: this.#port, event })
  }

  played(play: number): void {
    this.#report({ op: 'played', port: this.#port, play })
  }
}
