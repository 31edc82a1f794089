import { isIPv6 } from 'node:net'
import type { MessagePort } from 'node:worker_threads'
import type { Codecs } from '../codecs/types.ts'
import { Session } from '../rtp/session.ts'
import type { Talk } from '../rtp/talk.ts'
import type { MediaClock } from './clock.ts'
import { FrameLink } from './frame-link.ts'
import { Listeners } from './listeners.ts'
import { MixRoom } from './mix-room.ts'
import { PortOutput, type SocketPair } from './port-output.ts'
import type {
  Command,
  ListenCommand,
  MixCommand,
  OpenCommand,
  PlayCommand,
  PortNumber,
  Report,
} from './protocol.ts'
import type { BindSocket } from './sockets.ts'
import { Ticker } from './ticker.ts'

/** A port inside a media thread. */
interface OpenPort {
  readonly session: Session
  readonly sockets: readonly SocketPair[]
}

/** Collaborators of an {@link Engine}. */
export interface EngineOptions {
  readonly clock: MediaClock
  readonly bind: BindSocket
  readonly codecs: Codecs
  readonly report: (report: Report) => void
  /** Returns 0 to 1, as Math.random; randomises report intervals. */
  readonly random: () => number
}

/** Content of a media thread: sessions with their sockets, and mixers, controlled by commands. */
export class Engine {
  #options: EngineOptions
  #clock: MediaClock
  #report: (report: Report) => void
  #ticker: Ticker
  #ports = new Map<PortNumber, OpenPort>()
  #rooms = new Map<PortNumber, MixRoom>()
  #listeners: Listeners
  #ending = false

  constructor(options: EngineOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#report = options.report
    this.#ticker = new Ticker(options.clock)
    this.#listeners = new Listeners(options.report)
  }

  /** Number of ports, mixers and sinks in this thread. */
  get size(): number {
    return this.#ports.size + this.#rooms.size + this.#listeners.size
  }

  /** Closes everything open or being opened, so that nothing keeps the thread alive. */
  end(): void {
    this.#ending = true
    for (const [number, port] of [...this.#ports]) void this.#close(number, 0, port)
    for (const [number, room] of [...this.#rooms]) this.#closeRoom(number, room)
  }

  /**
   * Executes a command. Commands for a closed port are ignored: a handle sends nothing after `close`, which
   * is answered.
   */
  async run(command: Command): Promise<void> {
    switch (command.op) {
      case 'open':
        return this.#open(command)
      case 'close':
        return this.#close(command.port, command.request, this.#ports.get(command.port))
      case 'play':
      case 'stop':
      case 'pause':
      case 'resume':
      case 'volume':
        this.#play(command)
        return
      case 'record':
      case 'recording':
      case 'tap':
      case 'speak':
      case 'spoken':
      case 'silence':
      case 'untap':
      case 'detect':
      case 'undetect':
      case 'move':
        return this.#listen(command)
      case 'mixer':
      case 'seat':
      case 'reseat':
      case 'unseat':
      case 'unmix':
        this.#mix(command)
        return
      default: {
        const session = this.#ports.get(command.port)?.session
        if (session) this.#tell(session, command)
      }
    }
  }

  #tell(
    session: Session,
    command: Extract<Command, { op: 'far' | 'volumes' | 'join' | 'link' | 'part' | 'digits' | 'stats' }>,
  ): void {
    const { port } = command
    switch (command.op) {
      case 'far':
        session.setFar(this.#clock.now(), command.near, command.far)
        break
      case 'volumes':
        session.setVolumes(command.volumes)
        break
      case 'join': {
        const other = this.#ports.get(command.other)
        if (other) session.join(other.session)
        break
      }
      case 'link':
        this.#link(session, command.link)
        break
      case 'part':
        session.part()
        break
      case 'digits': {
        const { digits, request } = command
        session.sendDigits(digits, (sent) => this.#report({ op: 'digits', port, request, sent }))
        break
      }
      case 'stats':
        this.#report({ op: 'stats', port, request: command.request, stats: session.stats() })
        break
    }
    this.#ticker.wake(session)
  }

  #link(session: Session, port: MessagePort): void {
    const link: FrameLink = new FrameLink(port, () => session.part(link))
    session.connect(link)
  }

  /** Returns the session or the mixer of that number. */
  #target(number: PortNumber): Session | MixRoom | undefined {
    return this.#ports.get(number)?.session ?? this.#rooms.get(number)
  }

  #play(command: PlayCommand): void {
    const target = this.#target(command.port)
    if (!target) return
    const talk: Talk = target.talk
    const { play } = command
    if (command.op === 'play')
      talk.play(play, command.samples, command.sampleRate, command.loop, command.volumeDb)
    else if (command.op === 'volume') talk.setVolume(play, command.volumeDb)
    else talk[command.op](play)
    target.wake()
  }

  async #listen(command: ListenCommand): Promise<void> {
    const target = this.#target(command.port)
    if (target) return this.#listeners.run(command, target)
    // A recording on a closed port ends like one that was stopped at once.
    if (command.op === 'record') this.#report(neverRecorded(command.record))
    else if (command.op === 'tap') this.#report({ op: 'untapped', tap: command.tap })
    else if (command.op === 'detect') this.#report({ op: 'detected', detection: command.detection })
  }

  #mix(command: MixCommand): void {
    const { mixer } = command
    if (command.op === 'mixer') {
      this.#openRoom(mixer)
      return
    }
    const room = this.#rooms.get(mixer)
    if (!room) {
      if (command.op === 'seat') command.link?.close()
      return
    }
    if (command.op === 'seat') this.#seat(room, command)
    else if (command.op === 'reseat') room.change(command.port, command.options)
    else if (command.op === 'unseat') room.unseat(command.port)
    else this.#closeRoom(mixer, room)
  }

  #closeRoom(mixer: PortNumber, room: MixRoom): void {
    this.#rooms.delete(mixer)
    this.#listeners.leave(mixer)
    room.close()
    this.#ticker.removeMixer(room)
  }

  #openRoom(mixer: PortNumber): void {
    const room = new MixRoom(
      (play) => this.#report({ op: 'played', port: mixer, play }),
      (woken) => this.#ticker.wakeMixer(woken),
      (port) => this.#report({ op: 'speaker', mixer, port }),
    )
    this.#rooms.set(mixer, room)
    this.#ticker.addMixer(room)
  }

  #seat(room: MixRoom, { port, options, link }: Extract<MixCommand, { op: 'seat' }>): void {
    if (link) {
      room.seatLink(port, options, new FrameLink(link, () => room.unseat(port)))
      return
    }
    const session = this.#ports.get(port)?.session
    if (session) room.seat(port, options, session)
  }

  async #open(command: OpenCommand): Promise<void> {
    const output = new PortOutput(command.port, this.#report, () => this.#ticker.wake(session))
    const session: Session = new Session(
      {
        anyPort: command.rtpPort !== undefined,
        seed: command.seed,
        cname: command.cname,
        patience: {
          startMs: command.startTimeoutMs ?? Number.POSITIVE_INFINITY,
          mediaMs: command.mediaTimeoutMs ?? Number.POSITIVE_INFINITY,
        },
        codecs: this.#options.codecs,
        random: this.#options.random,
      },
      output,
    )
    try {
      const sockets = await this.#bindAll(command, session)
      if (this.#ending) {
        await closeAll(sockets)
        return
      }
      output.sockets(sockets)
      this.#ports.set(command.port, { session, sockets })
      this.#ticker.add(session)
      this.#report({ op: 'opened', port: command.port, rtpPort: sockets[0]!.rtp.port })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      this.#report({ op: 'failed', port: command.port, taken: code === 'EADDRINUSE', message })
    }
  }

  /** Binds the port on each of its addresses; if one fails, closes all. */
  async #bindAll(command: OpenCommand, session: Session): Promise<readonly SocketPair[]> {
    const pairs: SocketPair[] = []
    try {
      for (const address of command.bind) pairs.push(await this.#bindPair(address, command.rtpPort, session))
      return pairs
    } catch (error) {
      await closeAll(pairs)
      throw error
    }
  }

  async #bindPair(own: string, rtpPort: number | undefined, session: Session): Promise<SocketPair> {
    const clock = this.#clock
    const { bind } = this.#options
    const v6 = isIPv6(own)
    const rtp = await bind(own, rtpPort ?? 0, (packet, address, port) =>
      session.receive(clock.now(), packet, address, port),
    )
    if (rtpPort === undefined) return { v6, rtp, rtcp: rtp }
    try {
      const rtcp = await bind(own, rtpPort + 1, (packet, address, port) =>
        session.receiveRtcp(clock.now(), packet, address, port),
      )
      return { v6, rtp, rtcp }
    } catch (error) {
      await rtp.close()
      throw error
    }
  }

  async #close(number: PortNumber, request: number, port: OpenPort | undefined): Promise<void> {
    if (!port) return
    this.#ports.delete(number)
    this.#ticker.remove(port.session)
    this.#listeners.leave(number)
    port.session.close(this.#clock.now())
    const stats = port.session.stats()
    await closeAll(port.sockets)
    this.#report({ op: 'stats', port: number, request, stats })
  }
}

/** Closes the sockets; a socket used for both RTP and RTCP is closed once. */
const closeAll = async (pairs: readonly SocketPair[]): Promise<void> => {
  const sockets = new Set(pairs.flatMap(({ rtp, rtcp }) => [rtp, rtcp]))
  await Promise.all([...sockets].map((socket) => socket.close()))
}

/** Returns the report of a recording whose port was closed before it started. */
function neverRecorded(record: number): Report {
  return {
    op: 'recorded',
    record,
    result: { end: { kind: 'stopped' }, durationMs: 0, bytes: 0, kept: false },
  }
}
