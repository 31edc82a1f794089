import { RealtimeError } from './errors.ts'
import { textOf, type Values, valuesOf } from './wire.ts'

/** Address and credentials of a gateway. */
export interface SessionOptions {
  /** Id of the project. */
  readonly project: string
  /** API token of the project (`http.apiToken` of the gateway's configuration). */
  readonly token: string
  /**
   * Host and port of the gateway, optionally with `ws://` or `wss://`. Without a scheme, loopback names use
   * `ws://`, and others `wss://`. Default: `localhost:8080`.
   */
  readonly host?: string
}

/** Callbacks of a session. */
export interface SessionListener {
  event(type: string, params: Values): void
  /** Handles a gateway that has dropped the session: all earlier calls are lost. */
  reset(): void
  /** Handles a token that is no longer accepted: the session has ended. */
  failed(error: RealtimeError): void
}

/** Timers that a session uses; tests pass their own. */
export interface SessionTimers {
  /** Resolves after a number of milliseconds. */
  readonly wait: (ms: number) => Promise<void>
  /** Like {@link wait}, but does not keep the process alive. */
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
/** Interval of pings, and time-out of their answers and of signing in. */
const beatMs = 20_000
const answerMs = 10_000
const realTimers: SessionTimers = {
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  idle: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
}

/**
 * Session with a gateway. Until {@link Session.close}, a lost connection is restored, and the gateway
 * continues the session.
 */
export class Session {
  readonly #options: SessionOptions
  readonly #listener: SessionListener
  readonly #timers: SessionTimers
  /** Topics of this session, also after a reconnect. */
  readonly #topics = new Set<string>()
  readonly #pending = new Map<string, Pending>()
  #socket: WebSocket | undefined
  /** Connection that the gateway has accepted, while it lasts. */
  #signedIn: WebSocket | undefined
  #protocol: string | undefined
  #ready: Promise<void> | undefined
  #closed = false

  constructor(options: SessionOptions, listener: SessionListener, timers = realTimers) {
    this.#options = options
    this.#listener = listener
    this.#timers = timers
  }

  /**
   * Connects and signs in, once. Rejects with `unauthorized` if the gateway rejects the token, or `lost` if
   * it cannot be reached.
   */
  connect(topics: readonly string[] = []): Promise<void> {
    for (const topic of topics) this.#topics.add(topic)
    this.#ready ??= this.#first()
    return this.#ready
  }

  /**
   * Sends a request as soon as the session is connected.
   * Rejects with the code of the answer, or with `lost` if the connection breaks meanwhile.
   */
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

  /** Ends the session; idempotent. The gateway hangs up its calls after 30 s. */
  close(): void {
    this.#closed = true
    this.#socket?.close()
  }

  /** A failed first connection can be tried again. */
  async #first(): Promise<void> {
    try {
      await this.#open()
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }

  async #open(): Promise<void> {
    checkPlatform()
    const { host = 'localhost:8080' } = this.#options
    const socket = new WebSocket(urlOf(host))
    this.#socket = socket
    const opened = Promise.withResolvers<void>()
    socket.addEventListener('open', () => opened.resolve())
    socket.addEventListener('error', () => {})
    socket.addEventListener('message', ({ data }) => this.#receive(socket, String(data)))
    const unreachable = () => {
      opened.reject(new RealtimeError('lost', `${socket.url} cannot be reached.`))
      this.#lost(socket)
    }
    socket.addEventListener('close', unreachable)
    void this.#timers.idle(answerMs).then(() => {
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

  /**
   * Sends pings, because a connection whose far end is gone cannot be distinguished from an idle connection.
   */
  async #watch(socket: WebSocket): Promise<void> {
    for (;;) {
      await this.#timers.idle(beatMs)
      if (this.#signedIn !== socket) return
      const answered = this.#send('signalwire.ping', {}).then(
        () => true,
        () => false,
      )
      const silent = this.#timers.idle(answerMs).then(() => false)
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
    const given = valuesOf(result)
    const fault = valuesOf(error)
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
      // Spread, so that applications do not all return at once after a restart of the gateway.
      await this.#timers.wait(delay * (0.5 + Math.random() / 2))
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

/** Throws if this Node.js lacks what the client needs. */
const checkPlatform = (): void => {
  if (typeof WebSocket === 'function' && typeof Promise.withResolvers === 'function') return
  throw new Error(`@trunkline/realtime needs Node.js 22.18 or later. This is ${process.version}.`)
}

/** Returns the URL of a host. A bare name uses TLS, except for loopback. */
const urlOf = (host: string): string => {
  if (/^wss?:\/\//.test(host)) return host
  const isLoopback = /^(?:(?:[^/]+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$)/.test(host)
  return `${isLoopback ? 'ws' : 'wss'}://${host}`
}

/** Returns an empty frame for text that is not JSON. */
const frameOf = (text: string): Values => {
  try {
    return valuesOf(JSON.parse(text))
  } catch {
    return {}
  }
}

const errorOf = (fault: Values): RealtimeError =>
  new RealtimeError(fault.code === wrongToken ? 'unauthorized' : String(fault.code), textOf(fault, 'message'))
