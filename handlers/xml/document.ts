import type { Fields } from '../common/forms.ts'
import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { ElementReader } from './element-reader.ts'
import { codes, Faults } from './faults.ts'
import { holdsTemplate, Templates } from './templates.ts'
import { readTree, type XmlElement } from './tree.ts'
import type { Run } from './verb.ts'
import { verbs } from './verbs/all.ts'

/** One verb of a document: checked, with every URL absolute. `path` names its element in warnings. */
export interface Verb {
  readonly name: string
  readonly path: string
  /** May be run on somebody beside the caller. */
  readonly aside: boolean
  readonly run: Run
}

/** A document that may run. */
export interface XmlProgram {
  readonly verbs: readonly Verb[]
  /** What has no effect or another one than was written. */
  readonly warnings: readonly DocumentFault[]
}

const contentTypes = /^(text\/xml|application\/xml|text\/html|[^/;]+\/[^/;]+\+xml)\s*(;|$)/i

const response = { name: 'Response', attributes: [], inside: verbs } as const

/**
 * Reads and checks an XML document. `url` is where it came from: relative URLs start there, and an inline document has none. Throws
 * {@link DocumentInvalid} with every error that was found, each with its element path, line and column: malformed text, URLs that cannot be
 * used, and what would fill the memory. All else that is wrong is a warning. `fields` fill in `{{Name}}`; `later`: they are not known yet, and
 * where one stands nothing is wrong. `given` is the tree of the text where it was read already, by {@link readXmlTree}.
 */
export const readXmlDocument = (
  document: { readonly text: string; readonly url?: string; readonly contentType?: string },
  fields?: Fields | 'later',
  given?: XmlElement,
): XmlProgram => {
  checkContentType(document.contentType)
  const text = plainLines(document.text)
  const later = fields === 'later'
  const faults = new Faults(text, later ? isTemplate : undefined)
  const tree = given ?? readTree(text, fields && !later ? new Templates(fields) : undefined)
  const root = new ElementReader(tree, response, faults, document.url)
  if (root.content() !== '') root.warning(codes.schema, 'Text beside the verbs has no effect.')
  const program = root.nestedOf(verbs).flatMap(({ kind, reader }): readonly Verb[] => {
    const run = kind.read(reader)
    return run ? [{ name: kind.name, path: reader.element.path, aside: kind.aside ?? false, run }] : []
  })
  if (faults.errors.length > 0) throw new DocumentInvalid(faults.errors)
  return { verbs: program, warnings: faults.warnings }
}

/** The tree of a document that {@link readXmlDocument} takes. Throws {@link DocumentInvalid}. */
export const readXmlTree = (text: string, fields?: Fields): XmlElement =>
  readTree(plainLines(text), fields && new Templates(fields))

const plainLines = (text: string): string => text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')

const isTemplate = ({ attributes, children }: XmlElement, attribute?: string): boolean =>
  attribute === undefined
    ? children.some((child) => typeof child === 'string' && holdsTemplate(child))
    : holdsTemplate(attributes.get(attribute) ?? '')

const checkContentType = (contentType: string | undefined): void => {
  if (!contentType || contentTypes.test(contentType)) return
  const message = `The document came as ${JSON.stringify(contentType)}; text/xml or application/xml is needed.`
  throw new DocumentInvalid([{ code: codes.contentType, message, path: '' }])
}
