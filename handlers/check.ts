import type { DocumentFault } from './handler.ts'
import { DocumentInvalid } from './handler.ts'
import { readScriptDocument } from './script/document.ts'
import { readXmlDocument } from './xml/document.ts'

/** What is wrong with a document: `errors` keep it from running, `warnings` have no effect or another one than was written. */
export interface DocumentReport {
  readonly errors: readonly DocumentFault[]
  readonly warnings: readonly DocumentFault[]
}

/** Checks an inline document without running it, as the handler of its kind would. Never throws for a bad document. */
export const checkDocument = (kind: 'xml' | 'script', text: string): DocumentReport => {
  try {
    const { warnings } = kind === 'xml' ? readXmlDocument({ text }) : readScriptDocument({ text })
    return { errors: [], warnings }
  } catch (error) {
    if (error instanceof DocumentInvalid) return { errors: error.faults, warnings: [] }
    throw error
  }
}
