import type { DocumentFault, DocumentUnreachable } from '../handler.ts'
import { attributeOffset, LineIndex } from './line-index.ts'
import type { XmlElement } from './tree.ts'

/** Codes of faults in XML documents. */
export const codes = {
  unreachable: '11200',
  badUrl: '11100',
  noAddress: '11210',
  tooManyRedirects: '11215',
  badStatus: '11217',
  badCertificate: '11220',
  tooLarge: '11750',
  parse: '12100',
  schema: '12200',
  contentType: '12300',
  method: '13221',
  digits: '13222',
  number: '13223',
  speech: '13520',
  stream: '31920',
  streamUrl: '31922',
  event: '21626',
  sipUri: '32110',
  codecs: '53404',
} as const

const reasons: ReadonlyMap<string | undefined, string> = new Map([
  ['dns', codes.noAddress],
  ['redirects', codes.tooManyRedirects],
  ['status', codes.badStatus],
  ['tls', codes.badCertificate],
  ['too-large', codes.tooLarge],
])

/** Returns the code for a document that could not be fetched. */
export const unreachableCode = ({ reason }: DocumentUnreachable): string =>
  reasons.get(reason) ?? codes.unreachable

interface FoundFault {
  readonly code: string
  readonly message: string
  readonly element: XmlElement
  readonly attribute: string | undefined
}

/** Maximum number of errors, and of warnings, per document: each is a log line of every call. */
const maxFaults = 100

/**
 * Faults of one document while it is read. Errors prevent the document from running. Warnings do not.
 * An unknown verb is skipped, and an invalid attribute has its default, as in the hosted services of this
 * family.
 */
export class Faults {
  readonly errors: DocumentFault[] = []
  readonly warnings: DocumentFault[] = []
  #text: string
  #lines: LineIndex
  #isIgnored: (element: XmlElement, attribute?: string) => boolean

  /** `isIgnored` selects elements and attributes whose faults are dropped; default none. */
  constructor(text: string, isIgnored: (element: XmlElement, attribute?: string) => boolean = () => false) {
    this.#text = text
    this.#isIgnored = isIgnored
    this.#lines = new LineIndex(text)
  }

  error(code: string, message: string, element: XmlElement, attribute?: string): void {
    this.#add(this.errors, { code, message, element, attribute })
  }

  warning(code: string, message: string, element: XmlElement, attribute?: string): void {
    this.#add(this.warnings, { code, message, element, attribute })
  }

  #add(faults: DocumentFault[], { code, message, element, attribute }: FoundFault): void {
    if (faults.length >= maxFaults || this.#isIgnored(element, attribute)) return
    const offset =
      attribute === undefined ? element.offset : attributeOffset(this.#text, element.offset, attribute)
    const path = attribute === undefined ? element.path : `${element.path}/@${attribute}`
    faults.push({ code, message, path, ...this.#lines.at(offset) })
  }
}
