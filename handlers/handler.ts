import type { CallControl } from './verbs.ts'

/** Source of a handler's document. */
export type DocumentSource =
  | {
      readonly kind: 'url'
      readonly url: string
      readonly method?: 'GET' | 'POST'
      readonly fallbackUrl?: string
      /** Method of the fallback's request; default {@link method}. */
      readonly fallbackMethod?: 'GET' | 'POST'
    }
  /**
   * Inline text; `name` is its declaration in error messages, for instance `trunkline.yaml:
   * domains[0].handler`.
   */
  | { readonly kind: 'inline'; readonly text: string; readonly name: string }

/**
 * Request for a document to a customer's server, signed by the scheme of its body's type
 * (`docs/webhooks.md`).
 */
export interface DocumentRequest {
  /**
   * URL of the document. It may contain a user and a password, and a fragment with time-outs in milliseconds
   * (`#ct=2000&rt=5000&tt=15000`). Neither is part of the request line.
   */
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Body; absent for GET, whose form parameters are in the URL's query. */
  readonly body?: { readonly contentType: string; readonly text: string }
  /**
   * Maximum duration of the whole request in milliseconds, at most 60 s; default as configured. That of the
   * URL's fragment counts more.
   */
  readonly timeoutMs?: number
}

/**
 * Callback to a customer's server. It is delivered in the background, with retries, also after a restart of
 * the gateway.
 */
export interface StatusCallback extends Omit<DocumentRequest, 'timeoutMs'> {
  /** Kind of the callback for logs and metrics, for instance `call-status`, `recording` or `conference`. */
  readonly kind: string
  /**
   * Id of the call, recording or room session whose end the callback reports. If the gateway dies first,
   * another gateway sends the report; the id ensures that the report is sent once.
   */
  readonly ends?: string
  /**
   * Whether it is sent once, and not stored: it is lost if its server fails, or if too many wait. Default
   * false.
   */
  readonly isBestEffort?: boolean
}

/** Unsigned HTTP request of a document. */
export interface HttpRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: { readonly contentType: string; readonly text: string }
  /** Maximum duration of the whole request in milliseconds, at most 60 s; default as configured. */
  readonly timeoutMs?: number
  /** Maximum duration of the connection's setup in milliseconds, at most 10 s; default as configured. */
  readonly connectTimeoutMs?: number
}

/** Response to an {@link HttpRequest}, with any status. */
export interface HttpResponse {
  readonly status: number
  /** At most 64 headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Body, truncated to 64 kB. */
  readonly text: string
}

/** WebSocket to a customer's server, which is opened with a signature. */
export interface SocketRequest {
  /** `ws:` or `wss:` URL; it may contain a user and a password. */
  readonly url: string
  /** Maximum size of a received message in bytes; a larger one ends the connection. */
  readonly maxMessageBytes: number
}

/** Receives the events of a {@link DocumentSocket}. None comes before it is returned. */
export interface SocketListener {
  onOpen(): void
  /** Text message; undefined: a binary one. */
  onMessage(text: string | undefined): void
  /** The server has answered a ping after this time in milliseconds. */
  onRoundTrip(ms: number): void
  /** Called once, unless {@link DocumentSocket.close} was called; nothing follows. */
  onEnd(end: SocketEnd): void
}

/**
 * End of a connection. `unreachable`: it was never open. `closed`: the server closed it. `lost`: it broke, or
 * the server answered no ping. `too-large`: a message exceeded the limit. `slow`: the server takes messages
 * too slowly. The reason contains no secret of the URL.
 */
export interface SocketEnd {
  readonly kind: 'unreachable' | 'closed' | 'lost' | 'too-large' | 'slow'
  readonly reason: string
}

/** WebSocket to a customer's server. After the end, its methods have no effect. */
export interface DocumentSocket {
  send(text: string): void
  /** Closes the connection. Idempotent. */
  close(): void
}

/** Document from a customer's server: the body of a 2xx response. */
export interface FetchedDocument {
  /** URL after redirects, the base of relative URLs in the document. */
  readonly url: string
  readonly contentType: string
  readonly text: string
}

/** Fault of a document, for error lists and the call's log. */
export interface DocumentFault {
  /** Code of the document's language, for instance `relay_script_method_undefined` or `12100`. */
  readonly code: string
  readonly message: string
  /** URL of the document without user, password, query and fragment; absent for an inline document. */
  readonly document?: string
  /** Position in the document: a JSON pointer such as `/sections/main/0/play`, or an element path. */
  readonly path: string
  /** Line, from 1; absent if the source text is unknown. */
  readonly line?: number
  readonly column?: number
}

/** Services of the gateway for an interpreter. */
export interface HandlerContext {
  /**
   * Fetches a document. Throws an error whose message describes the failure (status, time-out, forbidden
   * address). If known, its `facts.reason` is the reason in one word, for instance `status`, `timeout` or
   * `dns`.
   */
  fetchDocument(request: DocumentRequest): Promise<FetchedDocument>
  /** Queues a callback to a customer's server. Never throws. */
  notify(callback: StatusCallback): void
  /**
   * Sends a request of the document. Throws an error whose message describes the failure if there is no
   * response.
   */
  request(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>
  /**
   * Opens a WebSocket to a customer's server. Returns at once; the listener receives a failure. The server is
   * pinged, and a connection without answer is lost within 40 s.
   */
  openSocket(request: SocketRequest, listener: SocketListener): DocumentSocket
  /** Writes a fault that does not stop the document to the call's log. */
  warn(fault: DocumentFault): void
  /**
   * Writes the start of a step to the call's log. `node` is the node of a call flow; absent in other
   * documents.
   */
  step(step: { readonly path: string; readonly method: string; readonly node?: string }): void
  /**
   * Whether a host name belongs to the gateway: its public host, or the domain of a domain application of the
   * project.
   */
  isOwnHost(host: string): boolean
  /** Returns the time in milliseconds since the epoch. */
  now(): number
  /** URL that receives the call's state changes as events of the script family; absent without such a URL. */
  readonly status?: { readonly url: string; readonly method: 'GET' | 'POST' }
  /** Variables of the project that documents can read as `envs.*`. */
  readonly envs: Readonly<Record<string, string>>
}

/** Interpreter of one kind of document. */
export interface Handler {
  /**
   * Fetches, checks and runs a document. Resolves at the end of the document or of the call. The gateway then
   * ends the call; it rejects an unanswered caller with the failure of the last `connect`, if that failed.
   * Throws {@link DocumentUnreachable} or {@link DocumentInvalid} before any verb of the faulty document
   * runs.
   */
  run(call: CallControl, source: DocumentSource, context: HandlerContext): Promise<void>
}

/** Error of a document that could not be fetched. */
export class DocumentUnreachable extends Error {
  readonly url: string
  /** Reason in one word, if {@link HandlerContext.fetchDocument} reported one. */
  readonly reason: string | undefined

  constructor(url: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'DocumentUnreachable'
    this.url = url
    this.reason = reasonOf(cause)
  }
}

const reasonOf = (cause: unknown): string | undefined => {
  const reason = (cause as { facts?: { reason?: unknown } } | undefined)?.facts?.reason
  return typeof reason === 'string' ? reason : undefined
}

/** Error of a document that violates its language. */
export class DocumentInvalid extends Error {
  readonly faults: readonly DocumentFault[]

  constructor(faults: readonly DocumentFault[]) {
    super(faults.map((f) => `${f.path || '/'}: ${f.message}`).join('; '))
    this.name = 'DocumentInvalid'
    this.faults = faults
  }
}
