import type { AgentRequestEnd, RunAgentRequest } from '../agent/agent-runner.ts'
import type { Json } from '../agent/document-types.ts'
import { contextWith } from '../common/contexts.ts'
import type { LoadedDocument } from '../common/documents.ts'
import { loadDocument } from '../common/documents.ts'
import { type Fields, formRequest, type Target } from '../common/forms.ts'
import type { DocumentFault, DocumentSource, HandlerContext } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import type { CallControl } from '../verbs.ts'
import { CallEnded, CallRedirected, VerbFailed } from '../verbs.ts'
import { sendCallback } from './callbacks.ts'
import type { Verb, XmlProgram, XmlText } from './document.ts'
import { readXmlDocument } from './document.ts'
import { codes, unreachableCode } from './faults.ts'
import { standardFields } from './standard-fields.ts'
import type { NextDocument, SideDocument, VerbContext, VerbOutcome } from './verb.ts'

/** Maximum number of consecutive idle documents; see {@link idleMs}. */
const maxIdleDocuments = 32

/** Duration below which a document that leads to another one counts as idle, in milliseconds. */
const idleMs = 200

/**
 * Reads a document of the call; `fields` fill its templates. Throws, or rejects with, {@link
 * DocumentInvalid}.
 */
export type ReadDocument = (document: XmlText, fields: Fields | undefined) => XmlProgram | Promise<XmlProgram>

const readImmediately: ReadDocument = readXmlDocument

/** Collaborators of an {@link XmlRun}. */
export interface XmlRunDeps {
  readonly call: CallControl
  readonly context: HandlerContext
  /** Reads documents; default immediately, in the current thread. */
  readonly read?: ReadDocument
  /** Runs voice agents; without it none can start. */
  readonly runAgent?: RunAgentRequest
  /** Settings of a side document; absent for the caller's own document. */
  readonly side?: SideDocument
}

/** Runs consecutive documents on one leg. */
export class XmlRun {
  readonly #call: CallControl
  readonly #context: HandlerContext
  readonly #read: ReadDocument
  readonly #agents: RunAgentRequest | undefined
  readonly #side: SideDocument | undefined
  #fallback: Pick<Extract<DocumentSource, { kind: 'url' }>, 'fallbackUrl' | 'fallbackMethod'> = {}
  /** URL of the running document, for warnings. */
  #document: string | undefined
  /** Whether the last `Dial` was not connected. */
  #hasDialFailed = false
  /** Number of idle documents since the last one that took time on the call. */
  #idleDocuments = 0

  constructor({ call, context, read = readImmediately, runAgent, side }: XmlRunDeps) {
    this.#call = call
    this.#context = context
    this.#read = read
    this.#agents = runAgent
    this.#side = side
  }

  /**
   * Runs the source's document and every document that it leads to. Resolves at the end of the last one, with
   * `leave` if a Leave verb ended it.
   */
  async run(source: DocumentSource): Promise<'leave' | undefined> {
    if (source.kind === 'url') {
      const { fallbackUrl, fallbackMethod } = source
      this.#fallback = { fallbackUrl, fallbackMethod }
    }
    let document = await this.#load(source, {})
    for (;;) {
      const startedAt = this.#context.now()
      const outcome = await this.#runVerbs(document.program.verbs)
      if (outcome === 'ended') return undefined
      if (outcome === 'leave') return 'leave'
      if (outcome === 'next') return this.#finish()
      if (this.#call.signal.aborted) return this.#side ? undefined : this.#reportToAction(outcome)
      this.#countIdle(outcome.next, this.#context.now() - startedAt)
      document = await this.#load({ kind: 'url', ...outcome.next, ...this.#fallback }, outcome.fields)
    }
  }

  /**
   * Bounds consecutive idle documents: a document that leads back to itself would request its server forever.
   */
  #countIdle(next: Target, tookMs: number): void {
    this.#idleDocuments = tookMs < idleMs ? this.#idleDocuments + 1 : 0
    if (this.#idleDocuments <= maxIdleDocuments) return
    const message =
      `${maxIdleDocuments} consecutive documents only led to the next one, last to ` +
      `${new URL(next.url).pathname}.`
    throw new DocumentInvalid([{ code: codes.tooManyRedirects, message, path: '' }])
  }

  #standardFields(): Fields {
    return { ...standardFields(this.#call, this.#side?.parentCallSid), ...this.#side?.fields }
  }

  async #load(source: DocumentSource, fields: Fields): Promise<LoadedDocument<XmlProgram>> {
    const document = await loadDocument(source, this.#context, {
      unreachable: unreachableCode,
      request: (url, method, failure) =>
        formRequest(
          { url, method },
          {
            ...this.#standardFields(),
            ...fields,
            ...(failure && { ErrorCode: failure.code, ErrorUrl: failure.url }),
          },
        ),
      // Templates are filled in inline documents only: the customer's server can fill its own responses.
      read: (text) => this.#read(text, source.kind === 'inline' ? this.#standardFields() : undefined),
    })
    this.#document = document.document
    for (const warning of document.program.warnings) this.#warn(warning)
    return document
  }

  async #runVerbs(verbs: readonly Verb[]): Promise<VerbOutcome> {
    for (const verb of verbs) {
      const outcome = await this.#runVerb(verb)
      if (outcome !== 'next') return outcome
    }
    return 'next'
  }

  /** Runs one verb. A verb that fails causes a warning, and the next one follows. */
  async #runVerb(verb: Verb): Promise<VerbOutcome> {
    if (this.#call.signal.aborted) throw new CallEnded()
    const context = this.#contextOf(verb)
    if (this.#side && !verb.canRunInSideDocument) {
      context.warn(codes.schema, `${verb.name} has no effect in a document that runs beside the caller's.`)
      return 'next'
    }
    this.#context.step({ path: verb.path, method: verb.name })
    const outcome = (await context.warnIfFailed(verb.run(context))) ?? 'next'
    if (outcome !== 'leave' || this.#side) return outcome
    context.warn(codes.schema, 'Leave has no effect: the caller is not in a queue.')
    return 'next'
  }

  #contextOf({ path }: Verb): VerbContext {
    const warn = (code: string, message: string) => this.#warn({ code, message, path })
    return {
      call: this.#call,
      handler: this.#context,
      standardFields: () => this.#standardFields(),
      answer: () => this.#answer(),
      warn,
      warnIfFailed: (work) =>
        work.catch((error) => {
          if (!(error instanceof VerbFailed)) throw error
          warn(error.code, error.message)
          return undefined
        }),
      runSideDocument: (leg, next, side) => this.#runSideDocument(leg, next, side),
      runAgent: (document, at) => this.#runAgent(document, at),
      reportDial: (isConnected) => {
        this.#hasDialFailed = !isConnected
      },
    }
  }

  async #runSideDocument(leg: CallControl, next: Target, side: SideDocument): Promise<'leave' | undefined> {
    try {
      const run = new XmlRun({ call: leg, context: this.#context, read: this.#read, side })
      return await run.run({ kind: 'url', ...next })
    } catch (error) {
      if (!side.isRepeated) for (const fault of faultsOf(error)) this.#context.warn(fault)
      throw error
    }
  }

  #runAgent(document: Json, path: string): Promise<AgentRequestEnd> {
    if (!this.#agents) throw new VerbFailed('agents_unavailable', 'The gateway has no voice agents.')
    const context = contextWith(this.#context, { warn: (fault) => this.#warn(fault) })
    return this.#agents(this.#call, context, { method: 'ai', document, path })
  }

  #warn(fault: DocumentFault): void {
    const document = this.#document
    if (!this.#side?.isRepeated) this.#context.warn({ ...fault, ...(document !== undefined && { document }) })
  }

  /**
   * Sends the result to the action's URL after the end of the call, and ignores its document. After a
   * redirect to another document only the action of a queue receives its result.
   */
  #reportToAction({ next, fields }: NextDocument): undefined {
    if (this.#call.signal.reason instanceof CallRedirected && !('QueueResult' in fields)) return
    sendCallback(this.#context, 'action', next, { ...this.#standardFields(), ...fields })
  }

  async #answer(): Promise<void> {
    if (!this.#call.isAnswered) await this.#call.answer()
  }

  /**
   * Runs after the last verb. Answers the caller, so that an empty document answers; after a failed `Dial`
   * the gateway rejects an unanswered caller with its failure instead.
   */
  async #finish(): Promise<undefined> {
    if (!this.#side && !this.#call.signal.aborted && !this.#hasDialFailed) await this.#answer()
  }
}

const faultsOf = (error: unknown): readonly DocumentFault[] => {
  if (error instanceof DocumentInvalid) return error.faults
  if (!(error instanceof DocumentUnreachable)) return []
  return [{ code: unreachableCode(error), message: error.message, document: error.url, path: '' }]
}
