import type { DocumentFault } from '../../../../handlers/handler.ts'
import type { DocumentKind } from '../../../../handlers/reading/check-document.ts'
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

/** Script in a request body: an object, or text in JSON or YAML. */
export type ScriptValue = string | object

/** Maximum number of faults in a response. */
const maxShownFaults = 10

/** The part of {@link DocumentChecks} that the routes use. */
export type Checks = Pick<DocumentChecks, 'check'>

/** Checks a document for the project of the request. Rejects like {@link checkStored}. */
export type CheckStored = (document: StoredDocument) => Promise<void>

/** Returns the function that checks documents of one project. */
export const checksOf =
  (checks: Checks, projectId: string): CheckStored =>
  (document) =>
    checkStored(checks, projectId, document)

/**
 * Checks a document. Rejects an invalid document with `document_invalid`, which names the field and each
 * fault. Rejects with `too_many_requests` if too many documents of the project wait to be checked. Rejects
 * with `overloaded` if too many documents of all projects wait.
 */
export const checkStored = async (
  checks: Checks,
  projectId: string,
  { kind, document, attribute }: StoredDocument,
): Promise<void> => {
  if (document.length > maxDocumentLength)
    throw badField(attribute, `The document exceeds ${maxDocumentLength} characters.`)
  const { errors } = await checks.check(projectId, kind, document).catch(refused)
  if (errors.length === 0) return
  const texts = errors.slice(0, maxShownFaults).map(faultText)
  const more = errors.length > maxShownFaults ? [`… and ${errors.length - maxShownFaults} more.`] : []
  throw new TrunklineError('document_invalid', [...texts, ...more].join(' '), { attribute })
}

const refused = (error: unknown): never => {
  if (!(error instanceof CheckRejected)) throw error
  const [code, text] = refusals[error.reason]
  throw new TrunklineError(code, text, {}, error)
}

const refusals = {
  project: [
    'too_many_requests',
    'Too many documents of the project are waiting to be checked. Try again later.',
  ],
  gateway: ['overloaded', 'Too many documents are waiting to be checked. Try again later.'],
} as const

const faultText = ({ path, line, column, message, code }: DocumentFault): string => {
  const position = line === undefined ? [] : [`(line ${line}, column ${column ?? 1})`]
  // A fault of the whole document has an empty path.
  const place = [...(path || !line ? [path || '/'] : []), ...position].join(' ')
  return `${place}: ${message} [${code}]`
}

/** Returns the script in a request body as text. */
export const documentOf = (value: ScriptValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** Returns a document for a response body: parsed JSON, or any other text unchanged. */
export const documentBody = (document: string): unknown => {
  try {
    return JSON.parse(document)
  } catch {
    return document
  }
}

/** Schema of a {@link ScriptValue}. */
export const scriptValue = {
  description: 'Document as an object, or as text in JSON or YAML.',
  anyOf: [{ type: 'object' }, documentText],
} as const
