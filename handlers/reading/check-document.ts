import { readFlowDocument } from '../flow/document.ts'
import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { readScriptDocument } from '../script/document.ts'
import { readXmlDocument } from '../xml/document.ts'

/** Languages of documents. */
export type DocumentKind = 'xml' | 'script' | 'flow'

/**
 * Faults of a document. `errors` prevent it from running; `warnings` are parts without effect or with an
 * unexpected one.
 */
export interface DocumentReport {
  readonly errors: readonly DocumentFault[]
  readonly warnings: readonly DocumentFault[]
}

const readers: Readonly<Record<DocumentKind, (text: string) => readonly DocumentFault[]>> = {
  xml: (text) => readXmlDocument({ text }, 'later').warnings,
  script: (text) => readScriptDocument({ text }).warnings,
  flow: (text) => readFlowDocument({ text }).program.warnings,
}

/**
 * Checks an inline document as the handler of its kind would, without running it. Never throws for an invalid
 * document.
 */
export const checkDocument = (kind: DocumentKind, text: string): DocumentReport => {
  try {
    return { errors: [], warnings: readers[kind](text) }
  } catch (error) {
    if (error instanceof DocumentInvalid) return { errors: error.faults, warnings: [] }
    throw error
  }
}
