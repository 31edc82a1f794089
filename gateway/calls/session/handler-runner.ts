import {
  DocumentInvalid,
  type DocumentSource,
  DocumentUnreachable,
  type Handler,
} from '../../../handlers/handler.ts'
import type { CallControl } from '../../../handlers/verbs.ts'
import { type Code, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { DocumentKind, HandlerSpec } from '../../model.ts'
import type { Envs, HandlerContexts } from './handler-contexts.ts'

/** Realtime applications; implemented by gateway/rpc/realtime. */
export interface Applications {
  /**
   * Offers a call to the clients of its project that listen on the topic, one after the other. Resolves at
   * the end of the call. Throws a TrunklineError `no_application` if no client takes the call, which is not
   * answered then.
   */
  run(call: CallControl, topic: string): Promise<void>
}

/** Runs the handlers of calls. */
export class HandlerRunner {
  readonly #handlers: Readonly<Partial<Record<DocumentKind, Handler>>>
  readonly #contexts: HandlerContexts
  readonly #applications: Applications | undefined

  /**
   * A kind without an entry in the handlers fails with `no_handler`, as does `realtime` without applications.
   */
  constructor(
    handlers: Readonly<Partial<Record<DocumentKind, Handler>>>,
    contexts: HandlerContexts,
    applications?: Applications,
  ) {
    this.#handlers = handlers
    this.#contexts = contexts
    this.#applications = applications
  }

  /**
   * Runs a handler to its end. Throws the handler's errors, and `no_handler`. `variables`: further `envs`.
   */
  async run(call: CallControl, spec: HandlerSpec, log: Log, variables: Envs = {}): Promise<void> {
    if (spec.kind === 'realtime') {
      if (!this.#applications) throw noHandler(spec.kind)
      await this.#applications.run(call, spec.topic)
      return
    }
    const handler = this.#handlers[spec.kind]
    if (!handler) throw noHandler(spec.kind)
    const source: DocumentSource =
      'url' in spec ? urlSource(spec) : { kind: 'inline', text: spec.document, name: spec.name }
    await handler.run(call, source, this.#contexts.of(call, log, { variables, status: spec.status }))
  }
}

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
