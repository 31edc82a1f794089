import type { Loaded } from '../common/documents.ts'
import { loadDocument } from '../common/documents.ts'
import type { DocumentSource, HandlerContext } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import type { CallControl, ConnectResult } from '../verbs.ts'
import { CallEnded, VerbFailed } from '../verbs.ts'
import type { XmlProgram } from './document.ts'
import { readXmlDocument } from './document.ts'
import { codes } from './faults.ts'
import type { Fields } from './fields.ts'
import { dialFields, documentRequest, recordFields, speechFields } from './fields.ts'
import type { DialVerb, GatherVerb, Next, RecordVerb, StreamVerb, Verb } from './program.ts'

/** Documents in a row that may do nothing but lead to the next one. */
const maxIdleDocuments = 32

/** Where a verb leads: on to the next one, to another document, or to the end of the call. */
type Step = 'on' | 'over' | { readonly next: Next; readonly fields: Fields }

/** Runs the documents of one call, one after the other. */
export class XmlRun {
  #call: CallControl
  #context: HandlerContext
  #fallbackUrl: string | undefined
  #lastDial: ConnectResult | undefined
  /** Documents since the last one that took any of the caller's time. */
  #idle = 0

  constructor(call: CallControl, context: HandlerContext) {
    this.#call = call
    this.#context = context
  }

  /** Runs the source's document and every one that it leads to; resolves at the end. */
  async run(source: DocumentSource): Promise<void> {
    this.#fallbackUrl = source.kind === 'url' ? source.fallbackUrl : undefined
    let document = await this.#load(source, {})
    for (;;) {
      const step = await this.#runVerbs(document.program.verbs)
      if (step === 'over') return
      if (step === 'on') return this.#finish()
      this.#countIdle(step.next)
      document = await this.#load(this.#sourceOf(step.next), step.fields)
    }
  }

  #sourceOf(next: Next): DocumentSource {
    return { kind: 'url', ...next, fallbackUrl: this.#fallbackUrl }
  }

  /** A document that only leads on, to itself in the end, would ask the customer's server for ever. */
  #countIdle(next: Next): void {
    this.#idle++
    if (this.#idle <= maxIdleDocuments) return
    const message = `${maxIdleDocuments} documents in a row led to the next one and did nothing else, lastly to ${new URL(next.url).pathname}.`
    throw new DocumentInvalid([{ code: codes.tooManyRedirects, message, path: '' }])
  }

  async #load(source: DocumentSource, fields: Fields): Promise<Loaded<XmlProgram>> {
    const document = await loadDocument(source, this.#context, {
      unreachable: codes.unreachable,
      request: (url, method, failure) =>
        documentRequest(
          this.#call,
          { url, method },
          { ...fields, ...(failure && { ErrorCode: failure.code, ErrorUrl: failure.url }) },
        ),
      read: readXmlDocument,
    })
    for (const warning of document.program.warnings) this.#context.warn(warning)
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
    try {
      return await this.#runVerb(verb)
    } catch (error) {
      if (!(error instanceof VerbFailed)) throw error
      this.#context.warn({ code: error.code, message: error.message, path: verb.path })
      return 'on'
    }
  }

  async #runVerb(verb: Verb): Promise<Step> {
    switch (verb.kind) {
      case 'play':
        await this.#call.play(verb.play)
        break
      case 'digits':
        await this.#answer()
        await this.#call.sendDigits(verb.digits)
        break
      case 'pause':
        await this.#call.sleep(verb.ms)
        // A pause of nothing takes none of the caller's time.
        if (verb.ms === 0) return 'on'
        break
      case 'gather':
        return this.#gather(verb)
      case 'dial':
        return this.#dial(verb)
      case 'record':
        return this.#record(verb)
      case 'stream':
        return this.#stream(verb)
      case 'stopStream':
        this.#call.stopStream(verb.name)
        return 'on'
      case 'redirect':
        return { next: verb.next, fields: {} }
      case 'hangup':
        // As the first verb it means "answered, then ended"; refusing is what Reject is for.
        await this.#answer()
        await this.#call.hangup('hangup')
        return 'over'
      case 'reject':
        await this.#call.hangup(this.#call.answered ? 'hangup' : verb.reason)
        return 'over'
    }
    this.#idle = 0
    return 'on'
  }

  async #gather(verb: GatherVerb): Promise<Step> {
    await this.#answer()
    const { digits, speech } = await this.#call.collect({
      ...(verb.prompt && { prompt: verb.prompt }),
      ...(verb.speech && { speech: verb.speech }),
      ...(verb.digits === false && { digits: false }),
      maxDigits: verb.maxDigits,
      terminators: verb.terminators,
      initialTimeoutMs: verb.timeoutMs,
      interDigitTimeoutMs: verb.timeoutMs,
    })
    this.#idle = 0
    if (!verb.action || (digits === '' && !speech && !verb.actionOnEmptyResult)) return 'on'
    return { next: verb.action, fields: speech ? speechFields(speech) : { Digits: digits } }
  }

  /** `Connect` has to wait for the end of its stream, which is also that of the call. */
  async #stream(verb: StreamVerb): Promise<Step> {
    await this.#answer()
    const stream = await this.#call.startStream(verb.stream)
    if (!verb.wait) return 'on'
    const end = await stream.ended
    if (this.#call.signal.aborted) throw new CallEnded()
    if (end.kind === 'failed')
      this.#context.warn({
        code: codes.stream,
        message: `The stream failed: ${end.reason}.`,
        path: verb.path,
      })
    else this.#idle = 0
    return verb.action ? { next: verb.action, fields: {} } : 'on'
  }

  async #record(verb: RecordVerb): Promise<Step> {
    const result = await this.#call.record(verb.record)
    this.#idle = 0
    const fields = recordFields(result)
    if (result.reason === 'hangup') {
      await this.#tellAction(verb, fields)
      return 'over'
    }
    return verb.action ? { next: verb.action, fields } : 'on'
  }

  async #dial(verb: DialVerb): Promise<Step> {
    const result = await this.#call.connect(verb.connect)
    this.#lastDial = result
    if (result.kind === 'connected') this.#idle = 0
    const fields = dialFields(result, verb.sip)
    if (result.kind === 'connected' && result.endedBy === 'caller') {
      await this.#tellAction(verb, fields)
      return 'over'
    }
    return verb.action ? { next: verb.action, fields } : 'on'
  }

  /** The caller is gone: the action still hears what came of it, and its document is not run. */
  async #tellAction(verb: DialVerb | RecordVerb, fields: Fields): Promise<void> {
    if (!verb.action) return
    const request = documentRequest(this.#call, verb.action, { ...fields, CallStatus: 'completed' })
    try {
      await this.#context.fetchDocument(request)
    } catch (error) {
      this.#context.warn({
        code: codes.unreachable,
        message: String((error as Error).message),
        path: verb.path,
      })
    }
  }

  async #answer(): Promise<void> {
    if (!this.#call.answered) await this.#call.answer()
  }

  /** After the last verb: an empty document answers, and a caller whom a failed `Dial` left unanswered is refused for what made it fail. */
  async #finish(): Promise<void> {
    if (!this.#call.signal.aborted && this.#lastDial?.kind !== 'failed') await this.#answer()
  }
}
