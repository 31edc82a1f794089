import type { Fields } from '../common/forms.ts'
import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { ElementReader } from './element-reader.ts'
import { codes, Faults } from './faults.ts'
import { hasTemplate, Templates } from './templates.ts'
import { readTree, type XmlElement } from './tree.ts'
import type { RunVerb } from './verb.ts'
import { verbs } from './verbs/index.ts'

/** XML document as received from its server. */
export interface XmlText {
  readonly text: string
  readonly url?: string
  readonly contentType?: string
}

/** Checked verb of a document, with absolute URLs. */
export interface Verb {
  readonly name: string
  /** Path of its element, for warnings. */
  readonly path: string
  /** Whether it may run in a side document. */
  readonly canRunInSideDocument: boolean
  readonly run: RunVerb
}

/** Document that can run. */
export interface XmlProgram {
  readonly verbs: readonly Verb[]
  /** Faults of parts that have no effect, or another effect than their author may expect. */
  readonly warnings: readonly DocumentFault[]
}

const contentTypes = /^(text\/xml|application\/xml|text\/html|[^/;]+\/[^/;]+\+xml)\s*(;|$)/i

const response = { name: 'Response', attributes: [], children: verbs } as const

/**
 * Reads and checks an XML document. `url` is its base for relative URLs; an inline document has none.
 * `fields` fill `{{Name}}` templates; `later` means that the fields are unknown and that values with
 * templates are not checked. `parsed` is the document's tree if {@link readXmlTree} has read it already.
 *
 * Throws {@link DocumentInvalid} with every error, each with its element path, line and column. Errors are
 * malformed text, invalid URLs, and documents that would exhaust the memory. All other faults are warnings.
 */
export const readXmlDocument = (
  document: XmlText,
  fields?: Fields | 'later',
  parsed?: XmlElement,
): XmlProgram => {
  checkContentType(document.contentType)
  const text = plainLines(document.text)
  const faults = new Faults(text, fields === 'later' ? isTemplate : undefined)
  const templates = fields === undefined || fields === 'later' ? undefined : new Templates(fields)
  const tree = parsed ?? readTree(text, templates)
  const root = new ElementReader(tree, response, faults, document.url)
  if (root.content() !== '') root.warning(codes.schema, 'Text between the verbs has no effect.')
  const program = root.nestedOf(verbs).flatMap(({ kind, reader }): readonly Verb[] => {
    const run = kind.read(reader)
    return run
      ? [
          {
            name: kind.name,
            path: reader.element.path,
            canRunInSideDocument: kind.canRunInSideDocument ?? false,
            run,
          },
        ]
      : []
  })
  if (faults.errors.length > 0) throw new DocumentInvalid(faults.errors)
  return { verbs: program, warnings: faults.warnings }
}

/** Reads the tree of a document for {@link readXmlDocument}. Throws {@link DocumentInvalid}. */
export const readXmlTree = (text: string, fields?: Fields): XmlElement =>
  readTree(plainLines(text), fields && new Templates(fields))

const plainLines = (text: string): string => text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')

const isTemplate = ({ attributes, children }: XmlElement, attribute?: string): boolean =>
  attribute === undefined
    ? children.some((child) => typeof child === 'string' && hasTemplate(child))
    : hasTemplate(attributes.get(attribute) ?? '')

const checkContentType = (contentType: string | undefined): void => {
  if (!contentType || contentTypes.test(contentType)) return
  const message =
    `The document has the content type ${JSON.stringify(contentType)}; it must be ` +
    'text/xml or application/xml.'
  throw new DocumentInvalid([{ code: codes.contentType, message, path: '' }])
}
