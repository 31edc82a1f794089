import type { CallControl, RoomConference } from './verbs.ts'

/** Where a handler's document comes from. */
export type DocumentSource =
  | {
      readonly kind: 'url'
      readonly url: string
      readonly method?: 'GET' | 'POST'
      readonly fallbackUrl?: string
      /** Of the fallback; default {@link method}. */
      readonly fallbackMethod?: 'GET' | 'POST'
    }
  /** The text itself; `name` says in errors where it was declared, for instance `trunkline.yaml: domains[0].handler`. */
  | { readonly kind: 'inline'; readonly text: string; readonly name: string }

/** A request for a document of a customer's server. It is signed by the scheme of its body's type (`docs/webhooks.md`). */
export interface DocumentRequest {
  /**
   * May hold a user and a password, and overrides of the time-outs in its fragment (`#ct=2000&rt=5000&tt=15000`, in ms); neither is sent in the
   * request line.
   */
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Absent for GET; form parameters then stand in the URL's query. */
  readonly body?: { readonly contentType: string; readonly text: string }
}

/** Something that a customer's server is told. It is delivered in the background, again where that fails, also after a restart. */
export interface StatusCallback extends DocumentRequest {
  /** What it tells, for logs and metrics: `call-status`, `recording`, `conference` and the like. */
  readonly kind: string
  /** Id of the call or recording whose end it tells, where the gateway tells that in its place if it dies before: it is told once. */
  readonly ends?: string
}

/** A request that a document makes for its own purposes; not signed. */
export interface OutsideRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: { readonly contentType: string; readonly text: string }
  /** Longest wait for all of it, and for the connection, in ms; default those of the configuration, at most 60 s and 10 s. */
  readonly timeoutMs?: number
  readonly connectTimeoutMs?: number
}

/** The answer to it, whatever its status. */
export interface OutsideAnswer {
  readonly status: number
  /** By lower-case name, 64 at most. */
  readonly headers: Readonly<Record<string, string>>
  /** 64 kB at most; what is beyond is cut off. */
  readonly text: string
}

/** What the customer's server answered; only 2xx answers come back, everything else is thrown by the fetcher. */
export interface FetchedDocument {
  /** Where it was found after redirects; relative URLs in it start from here. */
  readonly url: string
  readonly contentType: string
  readonly text: string
}

/** A fault of a document: in error lists and in the call's log. */
export interface DocumentFault {
  /** Code of the language, for instance `relay_script_method_undefined` or `12100`. */
  readonly code: string
  readonly message: string
  /** The document's URL, without user, password, query and fragment; absent for one in place. */
  readonly document?: string
  /** Where in the document: a JSON pointer such as `/sections/main/0/play`, or an element path. */
  readonly path: string
  /** 1-based; absent where the source text is not known. */
  readonly line?: number
  readonly column?: number
}

/** What an interpreter needs of the gateway. */
export interface HandlerContext {
  /**
   * Fetches a document. Throws an error whose message says what happened (status, time-out, refused address), and its `facts.reason` the same
   * in one word (`status`, `timeout`, `dns` and the like) where that is known.
   */
  fetchDocument(request: DocumentRequest): Promise<FetchedDocument>
  /** Tells a customer's server; never throws. */
  notify(callback: StatusCallback): void
  /** Throws an error whose message says what happened when there is no answer. */
  request(request: OutsideRequest, signal?: AbortSignal): Promise<OutsideAnswer>
  /** A fault that does not stop the document; it goes to the call's log. */
  warn(fault: DocumentFault): void
  /** A step of the document begins; it goes to the call's log. `node` is the call flow's, where the document was made from one. */
  step(step: { readonly path: string; readonly method: string; readonly node?: string }): void
  /** The conference of the project's room of that name or address (`roomPattern`); where there is no such room, one of its own. */
  room(name: string): RoomConference
  /** Whether a host name is the gateway's: the one that clients use, or the domain of an application of the project's. */
  isOwnHost(host: string): boolean
  /** Milliseconds since the epoch. */
  now(): number
  /** Who is told how the call goes, in events of the script family; absent: nobody, or in other words. */
  readonly status?: { readonly url: string; readonly method: 'GET' | 'POST' }
  /** Variables of the project that documents may read (`envs.*`). */
  readonly envs: Readonly<Record<string, string>>
}

/** One kind of handler. */
export interface Handler {
  /**
   * Fetches, checks and runs a document. Resolves when the document is at its end or the call is over. The gateway ends the call then; a
   * caller who is not answered is refused for what the last `connect` failed for, where it failed.
   * Throws {@link DocumentUnreachable} or {@link DocumentInvalid} before any verb of the faulty document has run.
   */
  run(call: CallControl, source: DocumentSource, context: HandlerContext): Promise<void>
}

/** The document could not be had. */
export class DocumentUnreachable extends Error {
  readonly url: string
  /** Why, in one word, where {@link HandlerContext.fetchDocument} said so. */
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

/** The document was read and is not what its language asks for. */
export class DocumentInvalid extends Error {
  readonly faults: readonly DocumentFault[]

  constructor(faults: readonly DocumentFault[]) {
    super(faults.map((f) => `${f.path || '/'}: ${f.message}`).join('; '))
    this.name = 'DocumentInvalid'
    this.faults = faults
  }
}
