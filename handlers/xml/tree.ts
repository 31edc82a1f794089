import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { DocumentInvalid } from '../handler.ts'
import { decodeEntities } from './entities.ts'
import { codes } from './faults.ts'
import { positionAt } from './line-index.ts'
import type { Templates } from './templates.ts'

/** Element of a document, with decoded entities. */
export interface XmlElement {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly (XmlElement | string)[]
  /** Offset of its start tag in the text. */
  readonly offset: number
  /** Element path, for instance `/Response/Dial[1]/Sip[2]`. */
  readonly path: string
}

/** Maximum size of a document in bytes. */
export const maxBytes = 65_536

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: false,
  // Entities are decoded in `decodeEntities`, so that an unknown one is an error with a position.
  processEntities: false,
  captureMetaData: true,
  cdataPropName: '#cdata',
  ignorePiTags: true,
  ignoreDeclaration: true,
  maxNestedTags: 20,
})

const metaData = XMLParser.getMetaDataSymbol() as unknown as symbol

/** Node of the parser: the tag's name as a key, `:@` for the attributes, and a symbol for the offsets. */
type RawNode = Readonly<Record<string | symbol, unknown>>

/**
 * Parses a text into a tree whose root is `Response`. A DOCTYPE is rejected, so that no custom entities
 * exist. `templates` fills attribute values and texts. Throws {@link DocumentInvalid} with one fault: 11750
 * (over 64 kB) or 12100 (malformed).
 */
export const readTree = (text: string, templates?: Templates): XmlElement => {
  if (Buffer.byteLength(text) > maxBytes) {
    throw fault(text, codes.tooLarge, `The document is larger than ${maxBytes} bytes.`, 0)
  }
  rejectDoctype(text)
  const valid = XMLValidator.validate(text)
  if (valid !== true) {
    const { msg, line = 1, col = 1 } = valid.err as { msg: string; line?: number; col?: number }
    throw new DocumentInvalid([
      { code: codes.parse, message: `The XML is malformed: ${msg}`, path: '', line, column: col },
    ])
  }
  const roots = parse(text).filter((node) => tagOf(node) !== '#text')
  const root = roots[0]
  if (!root || roots.length > 1 || tagOf(root) !== 'Response') {
    throw fault(
      text,
      codes.parse,
      'The document must have exactly one root element, Response.',
      offsetOf(roots[1] ?? root),
    )
  }
  return element({ text, templates }, root, '/Response')
}

/** Text of a document, and the templates that fill it. */
interface Source {
  readonly text: string
  readonly templates: Templates | undefined
}

const fault = (text: string, code: string, message: string, offset: number): DocumentInvalid =>
  new DocumentInvalid([{ code, message, path: '', ...positionAt(text, offset) }])

const closings: ReadonlyMap<string, string> = new Map([
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
])

/** Throws for a DOCTYPE outside comments and CDATA. Scans each part of the text once. */
const rejectDoctype = (text: string): void => {
  const opening = /<!(?:--|\[CDATA\[|DOCTYPE|ENTITY)/gi
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    if (/[EY]$/i.test(match[0])) throw fault(text, codes.parse, 'A DOCTYPE is not allowed.', match.index)
    const closing = closings.get(match[0])
    if (!closing) continue
    const end = text.indexOf(closing, opening.lastIndex)
    if (end < 0)
      throw fault(text, codes.parse, `The XML is malformed: ${match[0]} is not closed.`, match.index)
    opening.lastIndex = end
  }
}

const parse = (text: string): readonly RawNode[] => {
  try {
    return parser.parse(text) as RawNode[]
  } catch (error) {
    throw fault(text, codes.parse, `The XML cannot be parsed: ${(error as Error).message}`, 0)
  }
}

const tagOf = (node: RawNode): string => Object.keys(node).find((key) => key !== ':@') ?? ''

const offsetOf = (node: RawNode | undefined): number =>
  (node?.[metaData] as { startIndex?: number } | undefined)?.startIndex ?? 0

const element = (source: Source, node: RawNode, path: string): XmlElement => {
  const { text, templates } = source
  const offset = offsetOf(node)
  const filled = (value: string) => {
    const result = templates ? templates.fill(value) : value
    if (result === undefined)
      throw fault(text, codes.tooLarge, `The filled document has more than ${maxBytes} characters.`, offset)
    return result
  }
  const decode = (raw: string) => {
    try {
      return decodeEntities(raw)
    } catch (error) {
      throw fault(text, codes.parse, (error as Error).message, offset)
    }
  }
  const attributes = Object.entries((node[':@'] ?? {}) as Record<string, string>)
  const name = tagOf(node)
  return {
    name,
    // Literal line breaks and tabs in an attribute value become blanks (XML 1.0 section 3.3.3).
    attributes: new Map(
      attributes.map(([key, value]) => [key, filled(decode(value.replace(/[\n\t]/g, ' ')))]),
    ),
    children: children(source, node[name] as RawNode[], path, { decode, filled }),
    offset,
    path,
  }
}

const children = (
  source: Source,
  nodes: readonly RawNode[],
  path: string,
  { decode, filled }: Readonly<Record<'decode' | 'filled', (text: string) => string>>,
): (XmlElement | string)[] => {
  const counts = new Map<string, number>()
  return nodes.map((node) => {
    const tag = tagOf(node)
    if (tag === '#text') return filled(decode(String(node[tag])))
    if (tag === '#cdata')
      return filled((node[tag] as RawNode[]).map((part) => String(part['#text'])).join(''))
    const count = (counts.get(tag) ?? 0) + 1
    counts.set(tag, count)
    return element(source, node, `${path}/${tag}[${count}]`)
  })
}
