import { type DocumentKind, needsAgent } from '../../../../handlers/check.ts'
import type { DocumentFault } from '../../../../handlers/handler.ts'
import { CheckRejected, type DocumentChecks } from '../../../../handlers/reading/checks.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { badField, documentText, maxDocumentLength } from './field-schemas.ts'

/** A document in a request body. */
export interface StoredDocument {
  readonly kind: DocumentKind
  readonly document: string
  /** Field of the body that holds the document. */
  readonly attribute: string
}

/** A script as bodies have it: the document as an object, or text (JSON or YAML). */
export type ScriptValue = string | object

/** Faults that an answer tells; the document's author fixes these first. */
const toldFaults = 10

/** Checks of documents that the routes use. */
export type Checks = Pick<DocumentChecks, 'check'>

/** Checks a document of a request's project; rejects as {@link checkStored} does. */
export type CheckStored = (document: StoredDocument) => Promise<void>

/** The checks for the documents of one project. */
export const checksOf =
  (checks: Checks, projectId: string): CheckStored =>
  (document) =>
    checkStored(checks, projectId, document)

/**
 * Checks a document. Rejects with `document_invalid`, naming the field, each place and what was expected
 * there. Rejects with `too_many_requests` where too many documents of the project wait to be checked, and
 * with `overloaded` where those of all projects do.
 */
export const checkStored = async (
  checks: Checks,
  projectId: string,
  { kind, document, attribute }: StoredDocument,
): Promise<void> => {
  if (document.length > maxDocumentLength)
    throw badField(attribute, `A document has at most ${maxDocumentLength} characters.`)
  const { errors, warnings } = await checks.check(projectId, kind, document).catch(refused)
  // A call that is handed to an agent would be silent: better no such call, and no such document.
  const faults = [...errors, ...warnings.filter(needsAgent)]
  if (faults.length === 0) return
  const told = faults.slice(0, toldFaults).map(faultText)
  const more = faults.length > toldFaults ? [`… and ${faults.length - toldFaults} more.`] : []
  throw new TrunklineError('document_invalid', [...told, ...more].join(' '), { attribute })
}

const refused = (error: unknown): never => {
  if (!(error instanceof CheckRejected)) throw error
  const [code, text] = refusals[error.reason]
  throw new TrunklineError(code, text, {}, error)
}

const refusals = {
  project: ['too_many_requests', 'Too many documents of the project wait to be checked; try again later.'],
  gateway: ['overloaded', 'Too many documents wait to be checked; try again later.'],
} as const

const faultText = ({ path, line, column, message, code }: DocumentFault): string => {
  const place = line === undefined ? path : `${path} (line ${line}, column ${column ?? 1})`
  return `${place || '/'}: ${message} [${code}]`
}

/** A value of a body as the text of a document. */
export const documentOf = (value: ScriptValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** A document as bodies show it: JSON as the object that it is, any other text as it stands. */
export const shownDocument = (document: string): unknown => {
  try {
    return JSON.parse(document)
  } catch {
    return document
  }
}

/** Schema of a {@link ScriptValue}. */
export const scriptValue = {
  description: 'The document: an object, or text in JSON or YAML.',
  anyOf: [{ type: 'object' }, documentText],
} as const
