import { RealtimeError } from './errors.ts'
import { textOf, type Values, valuesOf } from './wire.ts'

/** How to reach a gateway, and as whom. */
export interface SessionOptions {
  /** Id of the project. */
  readonly project: string
  /** Its API token (`http.apiToken` of the gateway's configuration). */
  readonly token: string
  /**
   * Host and port of the gateway; `wss://` is put before it unless it begins with `ws://` or `wss://`. Default `ws://localhost:8080`.
   */
  readonly host?: string
}

/** What a session tells. */
export interface SessionListener {
  event(type: string, params: Values): void
  /** The gateway does not know us any more: every call of before is lost to us. */
  reset(): void
  /** The connection cannot be made again: the token is not taken any more. Nothing follows. */
  failed(error: RealtimeError): void
}

/** What of the outside a session uses; tests have their own. */
export interface Surroundings {
  /** Resolves after so many milliseconds. */
  readonly wait: (ms: number) => Promise<void>
  /** The same, and the process may end meanwhile. */
  readonly idle: (ms: number) => Promise<void>
}

interface Pending {
  readonly resolve: (result: Values) => void
  readonly reject: (error: RealtimeError) => void
}

const agent = '@trunkline/realtime/0.1.0'
const firstDelayMs = 500
const longestDelayMs = 15_000
const wrongToken = -32002
/** How often a connection has to show that it lives, and how long it is given for that; as long as for signing in. */
const beatMs = 20_000
const answerMs = 10_000
const realSurroundings: Surroundings = {
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  idle: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
}

/** One conversation with a gateway. A connection that is lost is made again until {@link Session.close}, and the gateway goes on where it was. */
export class Session {
  readonly #options: SessionOptions
  readonly #listener: SessionListener
  readonly #surroundings: Surroundings
  /** Listened on, also after a new connection. */
  readonly #topics = new Set<string>()
  readonly #pending = new Map<string, Pending>()
  #socket: WebSocket | undefined
  /** The connection that the gateway has taken, while it lasts. */
  #signedIn: WebSocket | undefined
  #protocol: string | undefined
  #ready: Promise<void> | undefined
  #closed = false

  constructor(options: SessionOptions, listener: SessionListener, surroundings = realSurroundings) {
    this.#options = options
    this.#listener = listener
    this.#surroundings = surroundings
  }

  /**
   * Connects and signs in, once. Rejects with the code `unauthorized` when the gateway does not take the token, and `lost` when it cannot be
   * reached.
   */
  connect(topics: readonly string[] = []): Promise<void> {
    for (const topic of topics) this.#topics.add(topic)
    this.#ready ??= this.#first()
    return this.#ready
  }

  /** Asks something, as soon as there is a connection. Rejects with the code of the answer, and with `lost` when the connection breaks meanwhile. */
  async request(method: string, params: Values): Promise<Values> {
    if (this.#closed) throw new RealtimeError('lost', 'The client is disconnected.')
    await this.connect()
    return this.#send(method, params)
  }

  async listen(topics: readonly string[]): Promise<void> {
    await this.request('signalwire.receive', { contexts: topics })
    for (const topic of topics) this.#topics.add(topic)
  }

  async unlisten(topics: readonly string[]): Promise<void> {
    await this.request('signalwire.unreceive', { contexts: topics })
    for (const topic of topics) this.#topics.delete(topic)
  }

  /** Ends the conversation; idempotent. The gateway hangs up its calls after 30 s. */
  close(): void {
    this.#closed = true
    this.#socket?.close()
  }

  /** One that fails can be tried again. */
  async #first(): Promise<void> {
    try {
      await this.#open()
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }

  async #open(): Promise<void> {
    const { host = 'ws://localhost:8080' } = this.#options
    const socket = new WebSocket(/^wss?:\/\//.test(host) ? host : `wss://${host}`)
    this.#socket = socket
    const opened = Promise.withResolvers<void>()
    socket.addEventListener('open', () => opened.resolve())
    socket.addEventListener('error', () => {})
    socket.addEventListener('message', ({ data }) => this.#receive(socket, String(data)))
    const unreachable = () => {
      opened.reject(new RealtimeError('lost', `${host} cannot be reached.`))
      this.#lost(socket)
    }
    socket.addEventListener('close', unreachable)
    void this.#surroundings.idle(answerMs).then(() => {
      if (this.#signedIn === socket) return
      unreachable()
      socket.close()
    })
    await opened.promise
    try {
      await this.#signIn()
      this.#signedIn = socket
      void this.#watch(socket)
    } catch (error) {
      socket.close()
      throw error
    }
  }

  /** A connection whose far end is gone without a word looks like a quiet one. */
  async #watch(socket: WebSocket): Promise<void> {
    for (;;) {
      await this.#surroundings.idle(beatMs)
      if (this.#signedIn !== socket) return
      const answered = this.#send('signalwire.ping', {}).then(
        () => true,
        () => false,
      )
      const silent = this.#surroundings.idle(answerMs).then(() => false)
      if (await Promise.race([answered, silent])) continue
      this.#lost(socket)
      socket.close()
      return
    }
  }

  async #signIn(): Promise<void> {
    const { project, token } = this.#options
    const result = await this.#send('signalwire.connect', {
      version: { major: 3, minor: 0, revision: 0 },
      event_acks: true,
      agent,
      authentication: { project, token },
      contexts: [...this.#topics],
      ...(this.#protocol && { protocol: this.#protocol }),
    })
    const protocol = textOf(result, 'protocol')
    const isNew = this.#protocol !== undefined && this.#protocol !== protocol
    this.#protocol = protocol
    if (isNew) this.#listener.reset()
  }

  #send(method: string, params: Values): Promise<Values> {
    const id = crypto.randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<Values>()
    this.#pending.set(id, { resolve, reject })
    this.#socket?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return promise
  }

  #receive(socket: WebSocket, text: string): void {
    const frame = frameOf(text)
    if (typeof frame.method === 'string') this.#asked(socket, frame)
    else this.#answered(frame)
  }

  #asked(socket: WebSocket, { id, method, params }: Values): void {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    if (method !== 'signalwire.event') return
    const event = valuesOf(params)
    this.#listener.event(textOf(event, 'event_type'), valuesOf(event.params))
  }

  #answered({ id, result, error }: Values): void {
    const pending = this.#pending.get(String(id))
    this.#pending.delete(String(id))
    const [given, fault] = [valuesOf(result), valuesOf(error)]
    const code = String(given.code ?? '200')
    if (fault.code !== undefined) pending?.reject(errorOf(fault))
    else if (code.startsWith('2')) pending?.resolve(given)
    else pending?.reject(new RealtimeError(code, textOf(given, 'message')))
  }

  #lost(socket: WebSocket): void {
    if (this.#socket !== socket) return
    for (const { reject } of this.#pending.values())
      reject(new RealtimeError('lost', 'The connection was lost.'))
    this.#pending.clear()
    if (this.#closed || this.#signedIn !== socket) return
    this.#signedIn = undefined
    this.#ready = this.#again()
    this.#ready.catch(() => {})
  }

  async #again(): Promise<void> {
    for (let delay = firstDelayMs; ; delay = Math.min(delay * 2, longestDelayMs)) {
      // Not all applications at once, after a restart of the gateway.
      await this.#surroundings.wait(delay * (0.5 + Math.random() / 2))
      if (this.#closed) throw new RealtimeError('lost', 'The client is disconnected.')
      try {
        return await this.#open()
      } catch (error) {
        if (!(error instanceof RealtimeError) || error.code !== 'unauthorized') continue
        this.close()
        this.#listener.failed(error)
        throw error
      }
    }
  }
}

/** What is no JSON is an empty frame, which nobody waits for. */
const frameOf = (text: string): Values => {
  try {
    return valuesOf(JSON.parse(text))
  } catch {
    return {}
  }
}

const errorOf = (fault: Values): RealtimeError =>
  new RealtimeError(fault.code === wrongToken ? 'unauthorized' : String(fault.code), textOf(fault, 'message'))
