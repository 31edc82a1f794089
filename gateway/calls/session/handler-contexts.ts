import type { DocumentRequest, FetchedDocument, HandlerContext } from '../../../handlers/handler.ts'
import { type CallControl, CallEnded } from '../../../handlers/verbs.ts'
import type { Callbacks } from '../../callbacks/callback-outbox.ts'
import type { CustomerHttp } from '../../callbacks/customer-http.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { StatusTarget } from '../../model.ts'

/** Collaborators of {@link HandlerContexts}. */
export interface HandlerContextsDeps {
  readonly documents: Pick<CustomerHttp, 'document' | 'request' | 'openSocket'>
  readonly callbacks: Callbacks
  /** See `HandlerContext.isOwnHost`. */
  readonly isOwnHost: (host: string, projectId: string) => boolean
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'documents'>
}

/** See `HandlerContext.envs`. */
export type Envs = Readonly<Record<string, string>>

/** Maximum number of faults of one document in the log: a document can repeat a fault for hours. */
const maxLoggedFaults = 100

/** Logs the first faults, and once that further ones are suppressed. */
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

/** Makes the contexts in which documents run on calls. */
export class HandlerContexts {
  readonly #deps: HandlerContextsDeps
  #envs: Envs

  constructor(deps: HandlerContextsDeps, envs: Envs) {
    this.#deps = deps
    this.#envs = envs
  }

  /** Changes the variables of documents that are fetched from now on. */
  change(envs: Envs): void {
    this.#envs = envs
  }

  /** Returns the context of a document. `status`: URL of its handler for states of the call. */
  of(
    { info, signal }: CallControl,
    log: Log,
    { variables, status }: { readonly variables: Envs; readonly status: StatusTarget | undefined },
  ): HandlerContext {
    const { projectId, callId } = info
    const { url, method, dialect } = status ?? {}
    const { documents, callbacks, isOwnHost, clock } = this.#deps
    return {
      fetchDocument: (request) => this.#fetch(request, projectId, signal),
      notify: (callback) => callbacks.notify({ projectId, callId }, callback),
      request: (request, cancel) => documents.request(request, cancel),
      openSocket: (request, listener) => documents.openSocket(request, projectId, listener),
      warn: warnings(log),
      step: (step) => log.debug(step, 'document step started'),
      isOwnHost: (host) => isOwnHost(host, projectId),
      now: () => clock.now(),
      ...(url !== undefined && method && dialect === 'json' && { status: { url, method } }),
      envs: { ...this.#envs, ...variables },
    }
  }

  async #fetch(request: DocumentRequest, projectId: string, over: AbortSignal): Promise<FetchedDocument> {
    const { documents, metrics } = this.#deps
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
