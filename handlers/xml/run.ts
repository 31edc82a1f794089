import type { Loaded } from '../common/documents.ts'
import { loadDocument } from '../common/documents.ts'
import { type Fields, formRequest, type Target } from '../common/forms.ts'
import type { DocumentFault, DocumentSource, HandlerContext } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import type { XmlText } from '../reading/reader.ts'
import type { CallControl } from '../verbs.ts'
import { CallEnded, CallRedirected, VerbFailed } from '../verbs.ts'
import { tell } from './callbacks.ts'
import type { Verb, XmlProgram } from './document.ts'
import { readXmlDocument } from './document.ts'
import { codes, unreachableCode } from './faults.ts'
import { standardFields } from './form.ts'
import type { Asked, Beside, Stage, Step } from './verb.ts'

/** Documents in a row that may do nothing but lead to the next one, and what counts as nothing. */
const maxIdleDocuments = 32
const idleMs = 200

/** Reads a document of the call; `fields` fill in its templates. Throws, or rejects with, `DocumentInvalid`. */
export type Reading = (document: XmlText, fields: Fields | undefined) => XmlProgram | Promise<XmlProgram>

const atOnce: Reading = readXmlDocument

/** Runs documents on one leg, one after the other. */
export class XmlRun {
  #call: CallControl
  #context: HandlerContext
  readonly #reading: Reading
  #beside: Beside | undefined
  #fallback: Pick<Extract<DocumentSource, { kind: 'url' }>, 'fallbackUrl' | 'fallbackMethod'> = {}
  /** URL of the document that runs, for warnings. */
  #document: string | undefined
  /** The last `Dial` had nobody. */
  #dialFailed = false
  /** Documents since the last one that took any of the caller's time. */
  #idle = 0

  constructor(call: CallControl, context: HandlerContext, reading: Reading = atOnce, beside?: Beside) {
    this.#call = call
    this.#context = context
    this.#reading = reading
    this.#beside = beside
  }

  /** Runs the source's document and every one that it leads to; resolves at the end, with `leave` where a verb of that name ended it. */
  async run(source: DocumentSource): Promise<'leave' | undefined> {
    if (source.kind === 'url') {
      const { fallbackUrl, fallbackMethod } = source
      this.#fallback = { fallbackUrl, fallbackMethod }
    }
    let document = await this.#load(source, {})
    for (;;) {
      const begun = this.#context.now()
      const step = await this.#runVerbs(document.program.verbs)
      if (step === 'over' || step === 'leave') return step === 'leave' ? step : undefined
      if (step === 'on') return this.#finish()
      if (this.#call.signal.aborted) return this.#beside ? undefined : this.#tellAction(step)
      this.#countIdle(step.next, this.#context.now() - begun)
      document = await this.#load({ kind: 'url', ...step.next, ...this.#fallback }, step.fields)
    }
  }

  /** A document that only leads on, to itself in the end, would ask the customer's server for ever. */
  #countIdle(next: Target, tookMs: number): void {
    this.#idle = tookMs < idleMs ? this.#idle + 1 : 0
    if (this.#idle <= maxIdleDocuments) return
    const message = `${maxIdleDocuments} documents in a row led to the next one and did nothing else, lastly to ${new URL(next.url).pathname}.`
    throw new DocumentInvalid([{ code: codes.tooManyRedirects, message, path: '' }])
  }

  #standardFields(): Fields {
    return { ...standardFields(this.#call, this.#beside?.parentCallSid), ...this.#beside?.fields }
  }

  async #load(source: DocumentSource, fields: Fields): Promise<Loaded<XmlProgram>> {
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
      // What a customer's server answers is not for us to fill in.
      read: (text) => this.#reading(text, source.kind === 'inline' ? this.#standardFields() : undefined),
    })
    this.#document = document.document
    for (const warning of document.program.warnings) this.#warn(warning)
    return document
  }

  async #runVerbs(verbs: readonly Verb[]): Promise<Step> {
    for (const verb of verbs) {
      const step = await this.#tryVerb(verb)
      if (step !== 'on') return step
    }
    return 'on'
  }

  /** A verb that cannot do its work is noted, and the next one has its turn. */
  async #tryVerb(verb: Verb): Promise<Step> {
    if (this.#call.signal.aborted) throw new CallEnded()
    const stage = this.#stageOf(verb)
    if (this.#beside && !verb.aside) {
      stage.warn(codes.schema, `${verb.name} has no effect in a document beside the caller's.`)
      return 'on'
    }
    this.#context.step({ path: verb.path, method: verb.name })
    const step = (await stage.attempt(verb.run(stage))) ?? 'on'
    if (step !== 'leave' || this.#beside) return step
    stage.warn(codes.schema, 'Leave has no effect: the caller is in no queue.')
    return 'on'
  }

  #stageOf({ path }: Verb): Stage {
    const call = this.#call
    const context = this.#context
    const warn = (code: string, message: string) => this.#warn({ code, message, path })
    return {
      call,
      context,
      standardFields: () => this.#standardFields(),
      answer: () => this.#answer(),
      warn,
      attempt: (work) =>
        work.catch((error) => {
          if (!(error instanceof VerbFailed)) throw error
          warn(error.code, error.message)
          return undefined
        }),
      aside: (leg, next, beside) => this.#aside(leg, next, beside),
      dialled: (somebody) => {
        this.#dialFailed = !somebody
      },
    }
  }

  async #aside(leg: CallControl, next: Target, beside: Beside): Promise<'leave' | undefined> {
    try {
      return await new XmlRun(leg, this.#context, this.#reading, beside).run({ kind: 'url', ...next })
    } catch (error) {
      if (!beside.again) for (const fault of faultsOf(error)) this.#context.warn(fault)
      throw error
    }
  }

  #warn(fault: DocumentFault): void {
    const document = this.#document
    if (!this.#beside?.again) this.#context.warn({ ...fault, ...(document !== undefined && { document }) })
  }

  /**
   * The caller is gone, or has another document: the action still hears what came of it, and has no document to give. Of a caller who has
   * another document only that of a queue hears.
   */
  #tellAction({ next, fields }: Asked): undefined {
    if (this.#call.signal.reason instanceof CallRedirected && !('QueueResult' in fields)) return
    tell(this.#context, 'action', next, { ...this.#standardFields(), ...fields })
  }

  async #answer(): Promise<void> {
    if (!this.#call.answered) await this.#call.answer()
  }

  /** After the last verb: an empty document answers, and a caller whom a failed `Dial` left unanswered is refused for what made it fail. */
  async #finish(): Promise<undefined> {
    if (!this.#beside && !this.#call.signal.aborted && !this.#dialFailed) await this.#answer()
  }
}

const faultsOf = (error: unknown) => {
  if (error instanceof DocumentInvalid) return error.faults
  if (!(error instanceof DocumentUnreachable)) return []
  return [{ code: unreachableCode(error), message: error.message, document: error.url, path: '' }]
}
