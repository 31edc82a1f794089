import {
  DocumentInvalid,
  type DocumentRequest,
  type DocumentSource,
  DocumentUnreachable,
  type FetchedDocument,
  type Handler,
  type HandlerContext,
  type OutsideAnswer,
  type OutsideRequest,
  type StatusCallback,
} from '../../handlers/handler.ts'
import type { CallControl } from '../../handlers/verbs.ts'
import type { Clock } from '../clock.ts'
import { type Code, TrunklineError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Applications, DocumentKind, HandlerSpec } from './ports.ts'

/** Asks customers' servers; implemented by gateway/webhooks. */
export interface Documents {
  /** Signed with the project's key. Throws an error whose message says what happened where no 2xx came. */
  document(request: DocumentRequest, projectId: string): Promise<FetchedDocument>
  /** See `HandlerContext.request`. */
  request(request: OutsideRequest, signal?: AbortSignal): Promise<OutsideAnswer>
}

/** Tells customers' servers; implemented by gateway/webhooks. */
export interface Callbacks {
  /** Delivers in the background, those of a call to one server in order. Never throws. */
  notify(from: { readonly projectId: string; readonly callId: string }, callback: StatusCallback): void
}

/** What handlers are run with. */
export interface HandlingParts {
  /** A call for a kind that has none is refused with `no_handler`. */
  readonly handlers: Readonly<Partial<Record<DocumentKind, Handler>>>
  /** As {@link handlers}, for the kind `realtime`. */
  readonly applications?: Applications
  readonly documents: Documents
  readonly callbacks: Callbacks
  /** See `HandlerContext.envs`. */
  readonly envs: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'documents'>
}

/** Runs what calls are to be handled with. */
export class Handling {
  #parts: HandlingParts

  constructor(parts: HandlingParts) {
    this.#parts = parts
  }

  /** Resolves when it is at its end; throws what the handler throws, and `no_handler`. */
  async run(call: CallControl, spec: HandlerSpec, log: Log): Promise<void> {
    const { handlers, applications } = this.#parts
    if (spec.kind === 'realtime') {
      if (!applications) throw noHandler(spec.kind)
      await applications.run(call, spec.topic)
      return
    }
    const handler = handlers[spec.kind]
    if (!handler) throw noHandler(spec.kind)
    const source: DocumentSource =
      'url' in spec
        ? { kind: 'url', url: spec.url, method: spec.method, fallbackUrl: spec.fallbackUrl }
        : { kind: 'inline', text: spec.document, name: spec.name }
    await handler.run(call, source, this.#context(call, log))
  }

  #context({ info }: CallControl, log: Log): HandlerContext {
    const { projectId, callId } = info
    const { documents, callbacks, clock, envs } = this.#parts
    return {
      fetchDocument: (request) => this.#fetch(request, projectId),
      notify: (callback) => callbacks.notify({ projectId, callId }, callback),
      request: (request, signal) => documents.request(request, signal),
      warn: (fault) => log.warn({ fault }, 'fault in the document'),
      step: (step) => log.debug(step, 'step of the document'),
      now: () => clock.now(),
      envs,
    }
  }

  async #fetch(request: DocumentRequest, projectId: string): Promise<FetchedDocument> {
    const { documents, metrics } = this.#parts
    try {
      const document = await documents.document(request, projectId)
      metrics.documents.inc({ outcome: 'fetched' })
      return document
    } catch (error) {
      metrics.documents.inc({ outcome: 'failed' })
      throw error
    }
  }
}

const noHandler = (kind: HandlerSpec['kind']): TrunklineError =>
  new TrunklineError('no_handler', `Handlers of the kind ${kind} are not to be had here.`, { kind })

/** What an error of a handler means in the catalogue, and what was found. */
export const diagnosis = (error: unknown): { code: Code; facts: Record<string, unknown> } => {
  if (error instanceof DocumentUnreachable) return { code: 'document_unreachable', facts: { url: error.url } }
  if (error instanceof DocumentInvalid) return { code: 'document_invalid', facts: { faults: error.faults } }
  if (error instanceof TrunklineError) return { code: error.code, facts: { ...error.facts } }
  return { code: 'handler_failed', facts: {} }
}
