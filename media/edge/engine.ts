import { isIPv6 } from 'node:net'
import type { MediaClock } from '../clock.ts'
import type { Codecs } from '../codecs/types.ts'
import { Session } from '../rtp/session.ts'
import { FrameLink } from './frame-link.ts'
import { PortOutput, type SocketPair } from './port-output.ts'
import type {
  Command,
  MixCommand,
  MixPacket,
  OpenCommand,
  PlayCommand,
  PortNumber,
  Report,
  SinkCommand,
} from './protocol.ts'
import { SinkRegistry } from './sink-registry.ts'
import type { BindSocket } from './sockets.ts'
import { ThreadMixer } from './thread-mixer.ts'
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
  #mixers = new Map<PortNumber, ThreadMixer>()
  #sinks: SinkRegistry
  /** Packets of mixes that are not reported yet. */
  #mixPackets: MixPacket[] = []
  #isEnding = false

  constructor(options: EngineOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#report = options.report
    this.#ticker = new Ticker(options.clock)
    this.#sinks = new SinkRegistry(options.report)
  }

  /** Number of ports, mixers and sinks in this thread. */
  get size(): number {
    return this.#ports.size + this.#mixers.size + this.#sinks.size
  }

  /** Closes everything open or being opened, so that nothing keeps the thread alive. */
  end(): void {
    this.#isEnding = true
    for (const [number, port] of [...this.#ports]) void this.#close(number, 0, port)
    for (const [number, threadMixer] of [...this.#mixers]) this.#closeMixer(number, threadMixer)
  }

  /**
   * Executes a command. Commands for a closed port are ignored, except `close`, which is always answered.
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
      case 'finishItem':
      case 'pauseSpeech':
      case 'resumeSpeech':
      case 'cutSpeech':
      case 'setReflex':
      case 'allowFade':
      case 'background':
      case 'clearSpeech':
      case 'closeTap':
      case 'detect':
      case 'stopDetection':
      case 'move':
        return this.#listen(command)
      case 'openMixer':
      case 'addInput':
      case 'changeInput':
      case 'removeInput':
      case 'encodeMix':
      case 'closeMixer':
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
    command: Extract<
      Command,
      { op: 'setFar' | 'setVolumes' | 'join' | 'link' | 'detach' | 'digits' | 'stats' }
    >,
  ): void {
    const { port } = command
    switch (command.op) {
      case 'setFar':
        session.setFar(this.#clock.now(), command.near, command.far)
        break
      case 'setVolumes':
        session.setVolumes(command.volumes)
        break
      case 'join': {
        const other = this.#ports.get(command.other)
        if (other) session.join(other.session)
        break
      }
      case 'link':
        this.#link(session, command)
        break
      case 'detach':
        session.detach()
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

  #link(session: Session, { link: port, options }: Extract<Command, { op: 'link' }>): void {
    const link: FrameLink = new FrameLink(port, options, () => session.detach(link))
    session.connect(link)
  }

  /** Returns the session or the mixer of that number. */
  #target(number: PortNumber): Session | ThreadMixer | undefined {
    return this.#ports.get(number)?.session ?? this.#mixers.get(number)
  }

  #play(command: PlayCommand): void {
    const target = this.#target(command.port)
    if (!target) return
    const { promptMixer } = target
    const { play } = command
    if (command.op === 'play')
      promptMixer.play(play, command.samples, command.sampleRate, command.loop, command.volumeDb)
    else if (command.op === 'volume') promptMixer.setVolume(play, command.volumeDb)
    else promptMixer[command.op](play)
    target.wake()
  }

  async #listen(command: SinkCommand): Promise<void> {
    const target = this.#target(command.port)
    if (target) return this.#sinks.run(command, target)
    // A recording on a closed port ends as if it was stopped at once.
    if (command.op === 'record') this.#report(emptyRecording(command.record))
    else if (command.op === 'tap') this.#report({ op: 'tapClosed', tap: command.tap })
    else if (command.op === 'detect') this.#report({ op: 'detectionEnded', detection: command.detection })
  }

  #mix(command: MixCommand): void {
    const { mixer } = command
    if (command.op === 'openMixer') {
      this.#openMixer(command)
      return
    }
    const threadMixer = this.#mixers.get(mixer)
    if (!threadMixer) {
      if (command.op === 'addInput') command.link?.port.close()
      return
    }
    if (command.op === 'addInput') this.#addInput(threadMixer, command)
    else if (command.op === 'changeInput') threadMixer.change(command.port, command.options)
    else if (command.op === 'removeInput') threadMixer.remove(command.port)
    else if (command.op === 'encodeMix')
      threadMixer.encode(
        this.#options.codecs,
        command.isOn ? (packet, delayMs) => this.#addMixPacket({ mixer, packet, delayMs }) : undefined,
      )
    else this.#closeMixer(mixer, threadMixer)
  }

  /** Adds a packet to the report of this tick, in which the other mixers make theirs. */
  #addMixPacket(packet: MixPacket): void {
    this.#mixPackets.push(packet)
    if (this.#mixPackets.length > 1) return
    queueMicrotask(() => {
      const packets = this.#mixPackets
      this.#mixPackets = []
      this.#report({ op: 'encodedMixes', packets })
    })
  }

  #closeMixer(mixer: PortNumber, threadMixer: ThreadMixer): void {
    this.#mixers.delete(mixer)
    this.#sinks.leave(mixer)
    threadMixer.close()
    this.#ticker.removeMixer(threadMixer)
  }

  #openMixer({ mixer, rate }: Extract<MixCommand, { op: 'openMixer' }>): void {
    const threadMixer = new ThreadMixer({
      rate,
      onPlayed: (play) => this.#report({ op: 'played', port: mixer, play }),
      onWake: (woken) => this.#ticker.wakeMixer(woken),
      onSpeaker: (port) => this.#report({ op: 'speaker', mixer, port }),
      onTalking: (port, talk) => this.#report({ op: 'talking', mixer, port, talk }),
    })
    this.#mixers.set(mixer, threadMixer)
    this.#ticker.addMixer(threadMixer)
  }

  #addInput(
    threadMixer: ThreadMixer,
    { port, options, link }: Extract<MixCommand, { op: 'addInput' }>,
  ): void {
    if (link) {
      threadMixer.addLink(
        port,
        options,
        new FrameLink(link.port, link.options, () => threadMixer.remove(port)),
      )
      return
    }
    const session = this.#ports.get(port)?.session
    if (session) threadMixer.add(port, options, session)
  }

  async #open(command: OpenCommand): Promise<void> {
    const output = new PortOutput(command.port, this.#report, () => this.#ticker.wake(session))
    const session: Session = new Session(
      {
        anyPort: command.rtpPort !== undefined,
        seed: command.seed,
        cname: command.cname,
        timeouts: {
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
      if (this.#isEnding) {
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
    this.#sinks.leave(number)
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
function emptyRecording(record: number): Report {
  return {
    op: 'recorded',
    record,
    result: { end: { kind: 'stopped' }, durationMs: 0, bytes: 0, hasFile: false },
  }
}
