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
import type { Clock } from '../../core/clock.ts'
import { type Code, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { DocumentKind, HandlerSpec, Rooms } from '../../model.ts'
import type { Applications, Callbacks, Documents, OwnHosts } from '../call-ports.ts'

/** What handlers are run with. */
export interface HandlerRunnerDeps {
  /** A call for a kind that has none is refused with `no_handler`. */
  readonly handlers: Readonly<Partial<Record<DocumentKind, Handler>>>
  /** As {@link handlers}, for the kind `realtime`. */
  readonly applications?: Applications
  readonly documents: Documents
  readonly callbacks: Callbacks
  readonly rooms: Rooms
  readonly hosts: OwnHosts
  /** See `HandlerContext.envs`. */
  readonly envs: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'documents'>
}

/** Faults of documents that are logged of one run: a document can come to the same one again and again, for hours. */
const maxLoggedFaults = 100

/** Logs the first faults, and once that there are more. */
const warnings = (log: Log): HandlerContext['warn'] => {
  let faults = 0
  return (fault) => {
    faults++
    if (faults <= maxLoggedFaults) log.warn({ fault }, 'fault in the document')
    else if (faults === maxLoggedFaults + 1)
      log.warn({ faults }, 'further faults of the documents are not logged')
  }
}

/** Runs what calls are to be handled with. */
export class HandlerRunner {
  #parts: HandlerRunnerDeps

  constructor(parts: HandlerRunnerDeps) {
    this.#parts = parts
  }

  /** Gives documents that are fetched from now on these variables. */
  change(envs: HandlerRunnerDeps['envs']): void {
    this.#parts = { ...this.#parts, envs }
  }

  /** Resolves when it is at its end; throws what the handler throws, and `no_handler`. `variables`: further `envs`. */
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
    { info, signal: over }: CallControl,
    log: Log,
    { variables, spec }: { readonly variables: Readonly<Record<string, string>>; readonly spec: HandlerSpec },
  ): HandlerContext {
    const { projectId, callId } = info
    const { url, method, dialect } = spec.status ?? {}
    const { documents, callbacks, rooms, hosts, clock, envs } = this.#parts
    return {
      fetchDocument: (request) => this.#fetch(request, projectId, over),
      notify: (callback) => callbacks.notify({ projectId, callId }, callback),
      request: (request, signal) => documents.request(request, signal),
      warn: warnings(log),
      step: (step) => log.debug(step, 'step of the document'),
      room: (name) => rooms.room(name, projectId),
      isOwnHost: (host) => hosts.isOwnHost(host, projectId),
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
      // Nothing is wrong with the document: nobody is there for it any more.
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
  new TrunklineError('no_handler', `Handlers of the kind ${kind} are not to be had here.`, { kind })

/** What an error of a handler means in the catalogue, and what was found. */
export const diagnoseHandlerError = (error: unknown): { code: Code; facts: Record<string, unknown> } => {
  if (error instanceof DocumentUnreachable) return { code: 'document_unreachable', facts: { url: error.url } }
  if (error instanceof DocumentInvalid) return { code: 'document_invalid', facts: { faults: error.faults } }
  if (error instanceof TrunklineError) return { code: error.code, facts: { ...error.facts } }
  return { code: 'handler_failed', facts: {} }
}
