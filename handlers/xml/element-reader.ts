import type { Target } from '../common/forms.ts'
import { hasControlCharacter } from '../common/headers.ts'
import { didYouMean } from '../common/spelling.ts'
import { resolveUrl } from '../common/urls.ts'
import type { Faults } from './faults.ts'
import { codes } from './faults.ts'
import type { XmlElement } from './tree.ts'
import type { ElementKind } from './verb.ts'

/** Reader of the attributes and the content of one element. */
export class ElementReader {
  readonly element: XmlElement
  readonly faults: Faults
  /** Base of relative URLs; undefined for an inline document. */
  readonly base: string | undefined
  #kind: ElementKind

  /** Warns of every attribute and child that the kind does not support. */
  constructor(element: XmlElement, kind: ElementKind, faults: Faults, base: string | undefined) {
    this.element = element
    this.faults = faults
    this.base = base
    this.#kind = kind
    this.#warnOfUnknown()
  }

  #warnOfUnknown(): void {
    const { attributes, children = [] }: ElementKind = this.#kind
    const owner = this.element.name
    for (const name of this.element.attributes.keys()) {
      if (attributes.includes(name)) continue
      const near = didYouMean(name, attributes)
      const message = `The attribute ${name} is not supported in ${owner}; it has no effect.${near}`
      this.warning(codes.schema, message, name)
    }
    if (children === 'markup') return
    for (const child of this.elements()) {
      const known = children.map(({ name }) => name)
      if (known.includes(child.name)) continue
      const near = didYouMean(child.name, known)
      const message = `${child.name} is not supported in ${owner}; it has no effect.${near}`
      this.faults.warning(codes.schema, message, child)
    }
  }

  /**
   * Reads a text. A value with control characters, which could forge SIP header fields, causes a warning and
   * is undefined.
   */
  text(name: string): string | undefined {
    const value = this.#value(name)
    if (value === undefined || !hasControlCharacter(value)) return value
    this.warning(
      codes.schema,
      `The attribute ${name} contains a line break or control character; it has no effect.`,
      name,
    )
    return undefined
  }

  /** Reads a text and truncates it, with a warning, to `maxLength` characters. */
  shortText(name: string, maxLength: number): string | undefined {
    const value = this.text(name)
    if (value === undefined || value.length <= maxLength) return value
    this.warning(codes.schema, `The attribute ${name} is truncated to ${maxLength} characters.`, name)
    return value.slice(0, maxLength)
  }

  /** Reads a whole number. Returns `fallback` if the attribute is absent or, with a warning, invalid. */
  integer<T extends number | undefined>(name: string, min: number, max: number, fallback: T): number | T {
    const value = this.#value(name)
    if (value === undefined) return fallback
    const number = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    this.#warnInvalid(name, `a whole number from ${min} to ${max}`, fallback)
    return fallback
  }

  /**
   * Reads true or false, or 1 or 0. Returns `fallback` if the attribute is absent or, with a warning,
   * invalid.
   */
  boolean(name: string, fallback = false): boolean {
    const value = this.#value(name)?.trim().toLowerCase()
    if (value === undefined) return fallback
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
    this.#warnInvalid(name, 'true or false', fallback)
    return fallback
  }

  /**
   * Reads one of several words. Returns `fallback` if the attribute is absent or, with a warning, invalid.
   */
  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.#value(name)
    if (value === undefined) return fallback
    const found = choices.find((choice) => choice === value.trim())
    if (found === undefined) this.#warnInvalid(name, `one of ${choices.join(', ')}`, fallback)
    return found ?? fallback
  }

  /**
   * Reads a trimmed text that matches a pattern. Returns `fallback` if the attribute is absent or, with a
   * warning, invalid.
   */
  matching(name: string, pattern: string, what: string, fallback: string): string {
    const value = this.#value(name)?.trim()
    if (value === undefined || new RegExp(pattern).test(value)) return value ?? fallback
    this.#warnInvalid(name, what, fallback)
    return fallback
  }

  /** Reads words separated by blanks or commas. Unknown words are dropped with a warning. */
  words<T extends string>(name: string, known: readonly T[], fallback: readonly T[], code: string): T[] {
    const value = this.#value(name)
    if (value === undefined) return [...fallback]
    const words = value.split(/[\s,]+/).filter((word) => word !== '')
    const unknown = words.filter((word) => !known.some((one) => one === word))
    if (unknown.length > 0) {
      const message = `The attribute ${name} supports ${known.join(', ')}; not ${unknown.join(', ')}.`
      this.warning(code, message, name)
    }
    return known.filter((word) => words.includes(word))
  }

  /** Reads a URL and the method of its requests, default POST. Undefined if the URL is absent or empty. */
  target(urlAttribute: string, methodAttribute: string): Target | undefined {
    const method = this.method(methodAttribute)
    const url = this.link(urlAttribute)
    return url === undefined ? undefined : { url, method }
  }

  /** Reads an absolute URL. Undefined if it is absent or empty. An invalid URL is an error. */
  link(name: string): string | undefined {
    const reference = this.#value(name)?.trim()
    return reference ? this.url(reference, name) : undefined
  }

  /**
   * Reads the attributes `action` and `method`. An empty action means the document's own URL, and so does an
   * absent one if `isSelfDefault`. Undefined if that document has no URL.
   */
  action(isSelfDefault = false): Target | undefined {
    const reference = this.#value('action')?.trim() ?? (isSelfDefault ? '' : undefined)
    if (reference !== '') return this.target('action', 'method')
    const method = this.method('method')
    return this.base === undefined ? undefined : { url: this.base, method }
  }

  /** Reads an HTTP method; default POST. */
  method(name: string): 'GET' | 'POST' {
    const value = this.#value(name)
    if (value === undefined || value === 'GET' || value === 'POST') return value ?? 'POST'
    const message = `The attribute ${name} must be GET or POST, not ${JSON.stringify(value)}; POST is used.`
    this.warning(codes.method, message, name)
    return 'POST'
  }

  /**
   * Resolves a URL of an attribute, or of the element's text. Undefined, after an error, if it is invalid.
   */
  url(reference: string, attribute?: string): string | undefined {
    try {
      return resolveUrl(reference, this.base)
    } catch (error) {
      this.error(codes.badUrl, `The URL ${(error as Error).message}.`, attribute)
      return undefined
    }
  }

  /** The element's own text, trimmed, with single blanks. */
  content(): string {
    return this.element.children
      .filter((child) => typeof child === 'string')
      .join('')
      .replace(/\s+/g, ' ')
      .trim()
  }

  /** Child elements, in order. */
  elements(): readonly XmlElement[] {
    return this.element.children.filter((child) => typeof child !== 'string')
  }

  /** Readers of the children of some kinds, in order. */
  nestedOf<T extends ElementKind>(kinds: readonly T[]): readonly { kind: T; reader: ElementReader }[] {
    return this.elements().flatMap((child) => {
      const kind = kinds.find(({ name }) => name === child.name)
      return kind ? [{ kind, reader: new ElementReader(child, kind, this.faults, this.base) }] : []
    })
  }

  /** Reports an error of the element, or of one attribute. */
  error(code: string, message: string, attribute?: string): void {
    this.faults.error(code, message, this.element, attribute)
  }

  /** Reports a warning about the element, or about one attribute. */
  warning(code: string, message: string, attribute?: string): void {
    this.faults.warning(code, message, this.element, attribute)
  }

  #value(name: string): string | undefined {
    if (!this.#kind.attributes.includes(name)) throw new Error(`${this.#kind.name} does not list ${name}`)
    return this.element.attributes.get(name)
  }

  #warnInvalid(name: string, wanted: string, fallback: unknown): void {
    const instead =
      fallback === undefined ? 'it has no effect' : `the default ${JSON.stringify(fallback)} is used`
    this.warning(codes.schema, `The attribute ${name} must be ${wanted}; ${instead}.`, name)
  }
}
