import type { DocumentFault, DocumentUnreachable } from '../handler.ts'
import { attributeOffset, Places } from './places.ts'
import type { XmlElement } from './tree.ts'

/** Codes of the faults of XML documents. */
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

/** The code for a document that could not be had. */
export const unreachableCode = ({ reason }: DocumentUnreachable): string =>
  reasons.get(reason) ?? codes.unreachable

/** Most errors, and most warnings, that are kept: nobody reads more, and each is a line of the log at every call. */
const mostFaults = 100

/**
 * The faults of one document while it is read. Errors keep it from running. Warnings do not: an unknown verb is passed over, and an
 * attribute with an impossible value has its default, as the hosted services of this family do it.
 */
export class Faults {
  readonly errors: DocumentFault[] = []
  readonly warnings: DocumentFault[] = []
  #text: string
  #places: Places
  #passes: (element: XmlElement, attribute?: string) => boolean

  /** `passes`: what is found wrong there is not told. */
  constructor(text: string, passes: (element: XmlElement, attribute?: string) => boolean = () => false) {
    this.#text = text
    this.#passes = passes
    this.#places = new Places(text)
  }

  error(code: string, message: string, element: XmlElement, attribute?: string): void {
    this.#add(this.errors, [code, message, element, attribute])
  }

  warning(code: string, message: string, element: XmlElement, attribute?: string): void {
    this.#add(this.warnings, [code, message, element, attribute])
  }

  #add(
    faults: DocumentFault[],
    found: readonly [code: string, message: string, element: XmlElement, attribute: string | undefined],
  ): void {
    const [, , element, attribute] = found
    if (faults.length < mostFaults && !this.#passes(element, attribute)) faults.push(this.#fault(...found))
  }

  #fault(code: string, message: string, element: XmlElement, attribute?: string): DocumentFault {
    const offset =
      attribute === undefined ? element.offset : attributeOffset(this.#text, element.offset, attribute)
    const path = attribute === undefined ? element.path : `${element.path}/@${attribute}`
    return { code, message, path, ...this.#places.at(offset) }
  }
}
