import type { Target } from '../common/forms.ts'
import { hasControl } from '../common/headers.ts'
import { resolveUrl } from '../common/urls.ts'
import type { Faults } from './faults.ts'
import { codes } from './faults.ts'
import type { XmlElement } from './tree.ts'
import type { ElementKind } from './verb.ts'

/** Reads the attributes and the content of one element of a known kind. */
export class ElementReader {
  readonly element: XmlElement
  readonly faults: Faults
  /** Where relative URLs start; undefined for an inline document. */
  readonly base: string | undefined
  #kind: ElementKind

  /** Warns of every attribute and nested element that is none of the kind's. */
  constructor(element: XmlElement, kind: ElementKind, faults: Faults, base: string | undefined) {
    this.element = element
    this.faults = faults
    this.base = base
    this.#kind = kind
    this.#warnOfStrangers()
  }

  #warnOfStrangers(): void {
    const { attributes, inside = [] }: ElementKind = this.#kind
    const owner = this.element.name
    for (const name of this.element.attributes.keys()) {
      const message = `The attribute ${name} of ${owner} is not supported; it has no effect.`
      if (!attributes.includes(name)) this.warning(codes.schema, message, name)
    }
    if (inside === 'markup') return
    for (const child of this.elements()) {
      const message = `${child.name} is not supported in ${owner}; it has no effect.`
      if (!inside.some(({ name }) => name === child.name)) this.faults.warning(codes.schema, message, child)
    }
  }

  /** Any text but control characters, which would break out of a SIP header: such a value has no effect. */
  text(name: string): string | undefined {
    const value = this.#value(name)
    if (value === undefined || !hasControl(value)) return value
    this.warning(
      codes.schema,
      `The attribute ${name} holds a line break or control character; it has no effect.`,
      name,
    )
    return undefined
  }

  /** Text of at most so many characters; what is beyond is cut off. */
  shortText(name: string, longest: number): string | undefined {
    const value = this.text(name)
    if (value === undefined || value.length <= longest) return value
    this.warning(codes.schema, `The attribute ${name} is cut to ${longest} characters.`, name)
    return value.slice(0, longest)
  }

  /** A whole number; `fallback` where there is none, or a value that cannot be used. */
  integer<T extends number | undefined>(name: string, min: number, max: number, fallback: T): number | T {
    const value = this.#value(name)
    if (value === undefined) return fallback
    const number = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    this.#unusable(name, `a whole number from ${min} to ${max}`, fallback)
    return fallback
  }

  boolean(name: string, fallback = false): boolean {
    const value = this.#value(name)?.trim().toLowerCase()
    if (value === undefined) return fallback
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
    this.#unusable(name, 'true or false', fallback)
    return fallback
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.#value(name)
    if (value === undefined) return fallback
    const found = choices.find((choice) => choice === value.trim())
    if (found === undefined) this.#unusable(name, `one of ${choices.join(', ')}`, fallback)
    return found ?? fallback
  }

  /** Text that fits a pattern, without the blanks around it; else a warning, and the default. */
  matching(name: string, pattern: string, what: string, fallback: string): string {
    const value = this.#value(name)?.trim()
    if (value === undefined || new RegExp(pattern).test(value)) return value ?? fallback
    this.#unusable(name, what, fallback)
    return fallback
  }

  /** Words with blanks between them; those that are not among `known` are warned of and left out. */
  words<T extends string>(name: string, known: readonly T[], fallback: readonly T[], code: string): T[] {
    const value = this.#value(name)
    if (value === undefined) return [...fallback]
    const words = value.split(/[\s,]+/).filter((word) => word !== '')
    const strange = words.filter((word) => !known.some((one) => one === word))
    if (strange.length > 0)
      this.warning(code, `The attribute ${name} knows ${known.join(', ')}; not ${strange.join(', ')}.`, name)
    return known.filter((word) => words.includes(word))
  }

  /** A URL and the method with which it is asked, POST by default; undefined where there is no URL, or an empty one. */
  target(urlAttribute: string, methodAttribute: string): Target | undefined {
    const method = this.method(methodAttribute)
    const url = this.link(urlAttribute)
    return url === undefined ? undefined : { url, method }
  }

  /** A URL, absolute; undefined where there is none, or an empty one. A bad one is an error. */
  link(name: string): string | undefined {
    const reference = this.#value(name)?.trim()
    return reference ? this.url(reference, name) : undefined
  }

  /**
   * The attributes `action` and `method`. An empty action is the document itself, and so is none where `itself` says so; one that has no URL
   * has no action then.
   */
  action(itself = false): Target | undefined {
    const reference = this.#value('action')?.trim() ?? (itself ? '' : undefined)
    if (reference !== '') return this.target('action', 'method')
    const method = this.method('method')
    return this.base === undefined ? undefined : { url: this.base, method }
  }

  method(name: string): 'GET' | 'POST' {
    const value = this.#value(name)
    if (value === undefined || value === 'GET' || value === 'POST') return value ?? 'POST'
    const message = `The attribute ${name} must be GET or POST, not ${JSON.stringify(value)}; POST is used.`
    this.warning(codes.method, message, name)
    return 'POST'
  }

  /** An absolute URL; a bad one is an error. `attribute` says where it stands, absent: in the element's text. */
  url(reference: string, attribute?: string): string | undefined {
    try {
      return resolveUrl(reference, this.base)
    } catch (error) {
      this.error(codes.badUrl, `The URL ${(error as Error).message}.`, attribute)
      return undefined
    }
  }

  /** The element's own text, trimmed, blanks run together. */
  content(): string {
    return this.element.children
      .filter((child) => typeof child === 'string')
      .join('')
      .replace(/\s+/g, ' ')
      .trim()
  }

  /** Nested elements, in order. */
  elements(): readonly XmlElement[] {
    return this.element.children.filter((child) => typeof child !== 'string')
  }

  /** Readers of the nested elements of these kinds, in order. */
  nestedOf<T extends ElementKind>(kinds: readonly T[]): readonly { kind: T; reader: ElementReader }[] {
    return this.elements().flatMap((child) => {
      const kind = kinds.find(({ name }) => name === child.name)
      return kind ? [{ kind, reader: new ElementReader(child, kind, this.faults, this.base) }] : []
    })
  }

  error(code: string, message: string, attribute?: string): void {
    this.faults.error(code, message, this.element, attribute)
  }

  warning(code: string, message: string, attribute?: string): void {
    this.faults.warning(code, message, this.element, attribute)
  }

  #value(name: string): string | undefined {
    if (!this.#kind.attributes.includes(name)) throw new Error(`${this.#kind.name} does not list ${name}`)
    return this.element.attributes.get(name)
  }

  #unusable(name: string, wanted: string, fallback: unknown): void {
    const instead =
      fallback === undefined ? 'it has no effect' : `the default ${JSON.stringify(fallback)} is used`
    this.warning(codes.schema, `The attribute ${name} must be ${wanted}; ${instead}.`, name)
  }
}
