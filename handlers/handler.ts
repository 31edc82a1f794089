import type { CallControl } from './verbs.ts'

/** Where a handler's document comes from. */
export type DocumentSource =
  | {
      readonly kind: 'url'
      readonly url: string
      readonly method?: 'GET' | 'POST'
      readonly fallbackUrl?: string
    }
  /** The text itself; `name` says in errors where it was declared, for instance `trunkline.yaml: domains[0].handler`. */
  | { readonly kind: 'inline'; readonly text: string; readonly name: string }

/** A request for a document of a customer's server. */
export interface DocumentRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Absent for GET; form parameters then stand in the URL's query. */
  readonly body?: { readonly contentType: string; readonly text: string }
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
  /** Where in the document: a JSON pointer such as `/sections/main/0/play`, or an element path. */
  readonly path: string
  /** 1-based; absent where the source text is not known. */
  readonly line?: number
  readonly column?: number
}

/** What an interpreter needs of the gateway. */
export interface HandlerContext {
  /** Fetches a document; throws an error whose message says what happened (status, time-out, refused address). */
  fetchDocument(request: DocumentRequest): Promise<FetchedDocument>
  /** A fault that does not stop the document; it goes to the call's log. */
  warn(fault: DocumentFault): void
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

  constructor(url: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'DocumentUnreachable'
    this.url = url
  }
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
