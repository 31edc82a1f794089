import type { Fields } from '../common/forms.ts'
import type { Timers } from '../common/timers.ts'
import { type FlowProgram, readFlow, readFlowDocument } from '../flow/document.ts'
import { type DocumentFault, DocumentInvalid } from '../handler.ts'
import { readScript, readScriptDocument, type ScriptProgram } from '../script/document.ts'
import { type CpuAccount, JobFailed, JobThreads } from '../script/sandbox/job-threads.ts'
import { type StartThread, startWorker } from '../script/sandbox/thread.ts'
import { readXmlDocument, type XmlProgram, type XmlText } from '../xml/document.ts'
import type { DocumentKind, DocumentReport } from './check-document.ts'
import type { ReadingJob, ReadingReply, ReadingResult } from './jobs.ts'

/**
 * Maximum length of a document that is read in the current thread, in characters. The worst documents of this
 * length take about ten milliseconds, those of 64 KB some hundreds.
 */
export const maxInline = 2_048

const startReading: StartThread<ReadingJob, ReadingReply> = (events) =>
  startWorker(new URL('./reading.worker.ts', import.meta.url), events)

/**
 * Reader of customers' documents. Documents longer than {@link maxInline} are read in worker threads, each
 * within two seconds, so that no document delays the signalling of other calls. All methods reject with
 * {@link DocumentInvalid}.
 */
export class DocumentReader {
  readonly #threads: JobThreads<ReadingJob, ReadingReply>

  constructor(timers: Timers, start: StartThread<ReadingJob, ReadingReply> = startReading) {
    this.#threads = new JobThreads('documents', timers, start)
  }

  /** Number of documents that are waiting or being read. */
  get pending(): number {
    return this.#threads.pending
  }

  /** Reads a script; `permitted` are the methods that it may use, default all. */
  async script(text: string, permitted?: ReadonlySet<string>, account?: CpuAccount): Promise<ScriptProgram> {
    if (text.length <= maxInline) return readScriptDocument({ text }, permitted)
    const read = await this.#read({ kind: 'script', text, ...(permitted && { permitted }) }, account)
    if (!('value' in read)) throw unexpected()
    return { ...readScript({ value: read.value, place: noPlace }, permitted), warnings: read.warnings }
  }

  /** Reads a call flow, or a script instead of one. */
  async flow(text: string, account?: CpuAccount): Promise<FlowProgram> {
    if (text.length <= maxInline) return readFlowDocument({ text })
    const read = await this.#read({ kind: 'flow', text }, account)
    if (!('value' in read)) throw unexpected()
    const { program, isFlow } = readFlow({ value: read.value, place: noPlace })
    return { program: { ...program, warnings: read.warnings }, isFlow }
  }

  /** Reads an XML document; `fields` fill its templates. */
  async xml(document: XmlText, fields?: Fields, account?: CpuAccount): Promise<XmlProgram> {
    const { text } = document
    if (text.length <= maxInline) return readXmlDocument(document, fields)
    const read = await this.#read({ kind: 'xml', text, ...(fields && { fields }) }, account)
    if (!('tree' in read)) throw unexpected()
    return readXmlDocument(document, fields, read.tree)
  }

  /**
   * Checks a document in a worker thread as `checkDocument` does. The report of a document that exceeds the
   * time or memory of its thread has that error. Rejects with {@link JobFailed} if no thread is available.
   */
  async check(language: DocumentKind, text: string): Promise<DocumentReport> {
    const job = { kind: 'check', language, text } as const
    try {
      const { result } = await this.#threads.run(job, { usedMs: 0 })
      if ('report' in result) return result.report
    } catch (error) {
      if (!(error instanceof JobFailed && error.isCausedByJob)) throw error
      return { errors: [unread(language, error)], warnings: [] }
    }
    throw unexpected()
  }

  /** Rejects pending jobs and ends the threads. Idempotent. */
  close(): Promise<void> {
    return this.#threads.close()
  }

  async #read(job: DocumentJob, account: CpuAccount = { usedMs: 0 }): Promise<ReadingResult> {
    const { result } = await this.#threads.run(job, account).catch((error: unknown) => {
      if (!(error instanceof JobFailed)) throw error
      throw new DocumentInvalid([unread(job.kind, error)])
    })
    if ('faults' in result) throw new DocumentInvalid(result.faults)
    return result
  }
}

/** Job that reads a document for a call. */
type DocumentJob = Extract<ReadingJob, { readonly kind: DocumentKind }>

/** Codes of a document that cannot be read, by language. */
const codes = { script: 'relay_script_parse_error', flow: 'relay_script_parse_error', xml: '12100' } as const

const unread = (kind: DocumentKind, { message }: JobFailed): DocumentFault => ({
  code: codes[kind],
  message: `The document cannot be read: ${message}.`,
  path: '',
})

/** A document that a worker thread has read has no faults left, so no positions are needed. */
const noPlace = (): undefined => undefined

const unexpected = (): Error => new Error('The thread returned a document of another kind.')
