import {
  DocumentInvalid,
  type DocumentRequest,
  type DocumentSource,
  DocumentUnreachable,
  type FetchedDocument,
  type Handler,
  type HandlerContext,
} from '../../../handlers/handler.ts'
import { type CallControl, CallEnded } from '../../../handlers/verbs.ts'
import type { Callbacks } from '../../callbacks/callback-outbox.ts'
import type { CustomerHttp } from '../../callbacks/customer-http.ts'
import type { Clock } from '../../core/clock.ts'
import { type Code, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { DocumentKind, HandlerSpec, Rooms } from '../../model.ts'

/** Realtime applications; implemented by gateway/rpc/realtime. */
export interface Applications {
  /**
   * Offers a call to the clients of its project that listen on the topic, one after the other. Resolves at
   * the end of the call. Throws a TrunklineError `no_application` if no client takes the call, which is not
   * answered then.
   */
  run(call: CallControl, topic: string): Promise<void>
}

/** Collaborators of a {@link HandlerRunner}. */
export interface HandlerRunnerDeps {
  /** Handlers by kind. A call for another kind is rejected with `no_handler`. */
  readonly handlers: Readonly<Partial<Record<DocumentKind, Handler>>>
  /** Handler of the kind `realtime`, as {@link handlers}. */
  readonly applications?: Applications
  readonly documents: Pick<CustomerHttp, 'document' | 'request'>
  readonly callbacks: Callbacks
  readonly rooms: Rooms
  /** See `HandlerContext.isOwnHost`. */
  readonly isOwnHost: (host: string, projectId: string) => boolean
  /** See `HandlerContext.envs`. */
  readonly envs: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'documents'>
}

/** Maximum number of a document's faults in the log: a document can run into the same fault for hours. */
const maxLoggedFaults = 100

/** Logs the first faults, and once that there are more. */
const warnings = (log: Log): HandlerContext['warn'] => {
  let faults = 0
  return (fault) => {
    faults++
    if (faults <= maxLoggedFaults)
      log.warn({ event: 'document.fault-found', fault }, 'fault found in the document')
    else if (faults === maxLoggedFaults + 1)
      log.warn({ event: 'document.faults-suppressed', faults }, 'further faults suppressed')
  }
}

/** Runs the handlers of calls. */
export class HandlerRunner {
  #parts: HandlerRunnerDeps

  constructor(parts: HandlerRunnerDeps) {
    this.#parts = parts
  }

  /** Changes the variables of documents that are fetched from now on. */
  change(envs: HandlerRunnerDeps['envs']): void {
    this.#parts = { ...this.#parts, envs }
  }

  /**
   * Runs a handler to its end. Throws the handler's errors, and `no_handler`. `variables`: further `envs`.
   */
  async run(
    call: CallControl,
    spec: HandlerSpec,
    log: Log,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { handlers, applications } = this.#parts
    if (spec.kind === 'realtime') {
      if (!applications) throw noHandler(spec.kind)
      await applications.run(call, spec.topic)
      return
    }
    const handler = handlers[spec.kind]
    if (!handler) throw noHandler(spec.kind)
    const source: DocumentSource =
      'url' in spec ? urlSource(spec) : { kind: 'inline', text: spec.document, name: spec.name }
    await handler.run(call, source, this.#context(call, log, { variables, spec }))
  }

  #context(
    { info, signal }: CallControl,
    log: Log,
    { variables, spec }: { readonly variables: Readonly<Record<string, string>>; readonly spec: HandlerSpec },
  ): HandlerContext {
    const { projectId, callId } = info
    const { url, method, dialect } = spec.status ?? {}
    const { documents, callbacks, rooms, isOwnHost, clock, envs } = this.#parts
    return {
      fetchDocument: (request) => this.#fetch(request, projectId, signal),
      notify: (callback) => callbacks.notify({ projectId, callId }, callback),
      request: (request, cancel) => documents.request(request, cancel),
      warn: warnings(log),
      step: (step) => log.debug(step, 'step of the document'),
      room: (name) => rooms.room(name, projectId),
      isOwnHost: (host) => isOwnHost(host, projectId),
      now: () => clock.now(),
      ...(url !== undefined && method && dialect === 'json' && { status: { url, method } }),
      envs: { ...envs, ...variables },
    }
  }

  async #fetch(request: DocumentRequest, projectId: string, over: AbortSignal): Promise<FetchedDocument> {
    const { documents, metrics } = this.#parts
    try {
      const document = await documents.document(request, projectId, over)
      metrics.documents.inc({ outcome: 'fetched' })
      return document
    } catch (error) {
      metrics.documents.inc({ outcome: over.aborted ? 'given-up' : 'failed' })
      // The document is not at fault: the call has ended.
      throw over.aborted ? endOf(over) : error
    }
  }
}

const endOf = ({ reason }: AbortSignal): CallEnded => (reason instanceof CallEnded ? reason : new CallEnded())

const urlSource = ({
  url,
  method,
  fallbackUrl,
  fallbackMethod,
}: Extract<HandlerSpec, { readonly url: string }>): DocumentSource => ({
  kind: 'url',
  url,
  method,
  fallbackUrl,
  ...(fallbackMethod && { fallbackMethod }),
})

const noHandler = (kind: HandlerSpec['kind']): TrunklineError =>
  new TrunklineError('no_handler', `No handler of the kind ${kind} is configured.`, { kind })

/** Returns the code of a handler's error in the catalogue, with its facts. */
export const diagnoseHandlerError = (error: unknown): { code: Code; facts: Record<string, unknown> } => {
  if (error instanceof DocumentUnreachable) return { code: 'document_unreachable', facts: { url: error.url } }
  if (error instanceof DocumentInvalid) return { code: 'document_invalid', facts: { faults: error.faults } }
  if (error instanceof TrunklineError) return { code: error.code, facts: { ...error.facts } }
  return { code: 'handler_failed', facts: {} }
}
