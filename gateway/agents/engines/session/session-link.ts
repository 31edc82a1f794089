import type { AgentMessage } from '../../../../handlers/verbs.ts'
import type { PcmRate } from '../../../../media/types.ts'
import type { SteadyClock, Timer } from '../../../core/clock.ts'
import type {
  Engine,
  EngineAbilities,
  EngineCall,
  EngineChange,
  EngineFailure,
  EngineHeard,
  EngineLink,
  EngineListener,
  EngineRequest,
} from '../../engine.ts'
import { type EngineProtocol, EngineSocket, type EngineTarget, type WireMessage } from './engine-socket.ts'
import type { SessionRequestFailed } from './session-request.ts'
import { linkRateOf, octetsPerSecondOf, WireDecoder, WireEncoder, type WireFormat } from './wire-audio.ts'
import { audioOf } from './wire-values.ts'

/** Limits of a session that an operator may change. */
export interface SessionOptions {
  /** Name in the configuration. */
  readonly name: string
  /** Further headers of the opening request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Longest time until a session is ready, in ms; default 10,000. */
  readonly readyTimeoutMs?: number
  /** Longest session in ms. */
  readonly longestMs?: number
}

/** Collaborators of the engines of this folder. */
export interface SessionDeps {
  readonly clock: SteadyClock
}

/** One opening of a session. */
export interface SessionOpening {
  readonly request: EngineRequest
  readonly listener: EngineListener
  readonly clock: SteadyClock
  /** Called once, when the session is over. */
  readonly onOver: () => void
}

/** Server and formats of a {@link SessionLink}. */
export interface SessionPlan {
  readonly target: Omit<EngineTarget, 'octetsPerSecond'>
  /** Format of the audio to the engine, and from it. */
  readonly input: WireFormat
  readonly output: WireFormat
}

/** Time before the end of a session at which it is announced, in ms. */
const closingNoticeMs = 60_000

/** Link of an engine with one WebSocket. Protocols add their messages. */
export abstract class SessionLink implements EngineLink, EngineProtocol {
  abstract readonly abilities: EngineAbilities
  readonly inputRate: PcmRate
  readonly outputRate: PcmRate
  protected readonly request: EngineRequest
  protected readonly listener: EngineListener
  protected readonly clock: SteadyClock
  protected socket: EngineSocket
  protected encoder: WireEncoder
  protected decoder: WireDecoder
  readonly #target: EngineTarget
  readonly #onOver: () => void
  #isReady = false
  #isOver = false
  /** Messages that wait until the session is ready. */
  #waiting: WireMessage[] = []
  #closing: Timer | undefined
  readonly #abort = new AbortController()

  constructor({ target, input, output }: SessionPlan, { request, listener, clock, onOver }: SessionOpening) {
    this.inputRate = linkRateOf(input)
    this.outputRate = linkRateOf(output)
    this.request = request
    this.listener = listener
    this.clock = clock
    this.encoder = new WireEncoder(input, this.inputRate)
    this.decoder = new WireDecoder(output, this.outputRate)
    this.#target = { ...target, octetsPerSecond: octetsPerSecondOf(input) }
    this.#onOver = onOver
    this.socket = new EngineSocket(this.#target, this, clock)
  }

  abstract onOpen(): void
  abstract onMessage(message: WireMessage): void
  abstract audioMessage(audio: Buffer): WireMessage | Buffer
  abstract commit(text: string): void
  abstract message(message: AgentMessage, respond: boolean): void
  abstract answer(instruction: string | undefined): void
  abstract say(text: string): void
  abstract interrupt(heard: EngineHeard | undefined, isForgotten: boolean): void
  abstract result(call: EngineCall, text: string, respond: boolean): void
  abstract change(change: EngineChange): void

  hear(samples: Int16Array): void {
    if (!this.#isOver) this.socket.hear(this.encoder.encode(samples))
  }

  /** None of these engines prepares answers. */
  prepare(): void {}

  close(): void {
    if (this.#end()) this.socket.close(this.farewell())
  }

  onWarning(code: string, message: string): void {
    this.listener.onWarning(code, message)
  }

  onFailure(failure: EngineFailure): void {
    if (this.#end()) this.listener.onFailure(failure)
  }

  protected get isOver(): boolean {
    return this.#isOver
  }

  /** Last message before the connection is closed; default none. */
  protected farewell(): WireMessage | undefined {
    return undefined
  }

  /** Cancels the timers of the protocol. */
  protected ended(): void {}

  /** Sends a message, or keeps it until the session is ready. */
  protected put(message: WireMessage): void {
    if (this.socket.isReady) this.socket.send(message)
    else if (!this.#isOver) this.#waiting.push(message)
  }

  /** The session accepts audio and messages: delivers those kept, and reports it once. */
  protected started(): void {
    if (!this.socket.isOpen || this.socket.isReady) return
    this.socket.ready()
    for (const message of this.#waiting.splice(0)) this.socket.send(message)
    if (this.#isReady || this.#isOver) return
    this.#isReady = true
    this.listener.onReady()
  }

  /** Connects to the URL that a request returns. `request`: is aborted with the session. */
  protected async connectAfter(request: (signal: AbortSignal) => Promise<string>): Promise<void> {
    try {
      this.socket.connect(await request(this.#abort.signal))
    } catch (error) {
      const { kind, message } = error as SessionRequestFailed
      this.socket.fail(kind ?? 'server', message)
    }
  }

  /** Connects anew within the session, to continue it. Audio and messages are kept meanwhile. */
  protected reconnect(): void {
    this.socket.close()
    this.socket = new EngineSocket(this.#target, this, this.clock)
    this.socket.connect()
  }

  /** Announces the end of the session: a minute before, or now if less is left. */
  protected closesIn(ms: number): void {
    this.#closing?.cancel()
    const notice = Math.min(Math.max(0, ms), closingNoticeMs)
    this.#closing = this.clock.after(Math.max(0, ms - notice), () => this.listener.onClosing(notice))
  }

  /** Decodes base64 audio. A faulty piece fails the session, and is undefined. */
  protected samplesOf(base64: string): Int16Array | undefined {
    try {
      return this.decoder.decode(audioOf(base64))
    } catch (error) {
      this.socket.fail('protocol', (error as Error).message)
      return undefined
    }
  }

  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#waiting = []
    this.#abort.abort()
    this.#closing?.cancel()
    this.ended()
    this.#onOver()
    return true
  }
}

/** Engine whose sessions are links of one class. */
export abstract class SessionEngine implements Engine {
  abstract readonly kind: string
  readonly name: string
  readonly #clock: SteadyClock
  readonly #links = new Set<EngineLink>()

  constructor(name: string, { clock }: SessionDeps) {
    this.name = name
    this.#clock = clock
  }

  /** Number of sessions that are open. */
  get sessions(): number {
    return this.#links.size
  }

  open(request: EngineRequest, listener: EngineListener): EngineLink {
    const link: EngineLink = this.link({
      request,
      listener,
      clock: this.#clock,
      onOver: () => this.#links.delete(link),
    })
    this.#links.add(link)
    return link
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.close()
  }

  /** Opens a session. Must return before any event. */
  protected abstract link(opening: SessionOpening): EngineLink
}
