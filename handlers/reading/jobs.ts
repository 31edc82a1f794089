import type { Fields } from '../common/forms.ts'
import { readFlow } from '../flow/document.ts'
import { type DocumentFault, DocumentInvalid } from '../handler.ts'
import { readScript } from '../script/document.ts'
import { readSource } from '../script/source.ts'
import { readXmlTree } from '../xml/document.ts'
import type { XmlElement } from '../xml/tree.ts'
import { checkDocument, type DocumentKind, type DocumentReport } from './check-document.ts'

/**
 * Document to read or check. `permitted` are the methods that a script may use; `fields` fill templates of
 * XML.
 */
export type ReadingJob =
  | { readonly kind: 'script'; readonly text: string; readonly permitted?: ReadonlySet<string> }
  | { readonly kind: 'flow'; readonly text: string }
  | { readonly kind: 'xml'; readonly text: string; readonly fields?: Fields }
  | { readonly kind: 'check'; readonly language: DocumentKind; readonly text: string }

/**
 * Result of a job: the value of a valid script or flow, the tree of XML, the report of a check, or faults.
 */
export type ReadingResult =
  | { readonly value: unknown; readonly warnings: readonly DocumentFault[] }
  | { readonly tree: XmlElement }
  | { readonly report: DocumentReport }
  | { readonly faults: readonly DocumentFault[] }

/** Result of a job, with its CPU time in milliseconds. */
export interface ReadingReply {
  readonly result: ReadingResult
  readonly ms: number
}

/** Reads a document. Does all work whose cost grows with the document's size. */
export const read = (job: ReadingJob): ReadingReply => {
  const begin = process.threadCpuUsage()
  const result = resultOf(job)
  const { user, system } = process.threadCpuUsage(begin)
  return { result, ms: (user + system) / 1000 }
}

const resultOf = (job: ReadingJob): ReadingResult => {
  if (job.kind === 'check') return { report: checkDocument(job.language, job.text) }
  try {
    if (job.kind === 'xml') return { tree: readXmlTree(job.text, job.fields) }
    const source = readSource(job.text)
    const { warnings } = job.kind === 'flow' ? readFlow(source).program : readScript(source, job.permitted)
    return { value: source.value, warnings }
  } catch (error) {
    if (error instanceof DocumentInvalid) return { faults: error.faults }
    throw error
  }
}
