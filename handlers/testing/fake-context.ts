import type {
  DocumentFault,
  DocumentRequest,
  DocumentSocket,
  FetchedDocument,
  HandlerContext,
  HttpRequest,
  HttpResponse,
  SocketListener,
  SocketRequest,
  StatusCallback,
} from '../handler.ts'

/** WebSocket of tests: a test acts as the server by `listener`. */
export class FakeSocket implements DocumentSocket {
  readonly request: SocketRequest
  readonly listener: SocketListener
  /** Messages that were sent. */
  readonly sent: Record<string, unknown>[] = []
  isClosed = false

  constructor(request: SocketRequest, listener: SocketListener) {
    this.request = request
    this.listener = listener
  }

  /** Messages of one type that were sent. */
  of(type: string): readonly Record<string, unknown>[] {
    return this.sent.filter((message) => message.type === type)
  }

  /** Sends a message as the server. */
  receives(message: object | string): void {
    this.listener.onMessage(typeof message === 'string' ? message : JSON.stringify(message))
  }

  send(text: string): void {
    if (!this.isClosed) this.sent.push(JSON.parse(text) as Record<string, unknown>)
  }

  close(): void {
    this.isClosed = true
  }
}

/**
 * Handler context for tests: serves documents by URL (an error as document is thrown), and records requests
 * and warnings.
 */
export class FakeContext implements HandlerContext {
  readonly documents: Record<string, string | Error>
  readonly contentType: string
  readonly requests: DocumentRequest[] = []
  readonly warnings: DocumentFault[] = []
  readonly callbacks: StatusCallback[] = []
  readonly outside: HttpRequest[] = []
  /** Responses of {@link request}, in order; without one the request fails. */
  readonly answers: HttpResponse[] = []
  /** WebSockets that were opened; each is connected at once unless {@link connects} is false. */
  readonly sockets: FakeSocket[] = []
  connects = true
  readonly steps: { readonly path: string; readonly method: string; readonly node?: string }[] = []
  envs: Readonly<Record<string, string>> = {}
  status?: { readonly url: string; readonly method: 'GET' | 'POST' }
  /** Time that {@link now} returns. */
  time = Date.UTC(2026, 0, 5, 12)

  constructor(documents: Record<string, string | Error> = {}, contentType = '') {
    this.documents = documents
    this.contentType = contentType
  }

  /** Returns the form or query of a request as an object. */
  fields(index: number): Record<string, string> {
    const request = this.requests[index]
    const text = request?.method === 'GET' ? new URL(request.url).search : request?.body?.text
    return Object.fromEntries(new URLSearchParams(text))
  }

  async fetchDocument(request: DocumentRequest): Promise<FetchedDocument> {
    this.requests.push(request)
    const url = request.url.split('?', 1)[0] ?? ''
    const text = this.documents[url]
    if (text === undefined) throw new Error(`404 for ${url}`)
    if (text instanceof Error) throw text
    return { url: request.url, contentType: this.contentType, text }
  }

  notify(callback: StatusCallback): void {
    this.callbacks.push(callback)
  }

  async request(request: HttpRequest, _signal?: AbortSignal): Promise<HttpResponse> {
    this.outside.push(request)
    const answer = this.answers.shift()
    if (!answer) throw new Error(`no answer of ${request.url}`)
    return answer
  }

  openSocket(request: SocketRequest, listener: SocketListener): FakeSocket {
    const socket = new FakeSocket(request, listener)
    this.sockets.push(socket)
    queueMicrotask(() => {
      if (this.connects) listener.onOpen()
      else listener.onEnd({ kind: 'unreachable', reason: 'ECONNREFUSED' })
    })
    return socket
  }

  warn(fault: DocumentFault): void {
    this.warnings.push(fault)
  }

  step(step: { readonly path: string; readonly method: string; readonly node?: string }): void {
    this.steps.push(step)
  }

  isOwnHost(host: string): boolean {
    return host === 'gw.example'
  }

  now(): number {
    return this.time
  }
}
