import { hasControl } from '../common/headers.ts'
import { resolveUrl } from '../common/urls.ts'
import type { Faults } from './faults.ts'
import { codes } from './faults.ts'
import type { Next } from './program.ts'
import type { XmlElement } from './tree.ts'

/** Reads one element's attributes and content; what nobody asked for is warned of by {@link ElementReader.done}. */
export class ElementReader {
  readonly element: XmlElement
  readonly faults: Faults
  /** Where relative URLs start; undefined for an inline document. */
  readonly base: string | undefined
  #read = new Set<string>()

  constructor(element: XmlElement, faults: Faults, base: string | undefined) {
    this.element = element
    this.faults = faults
    this.base = base
  }

  /** Reader of a nested element. */
  nested(element: XmlElement): ElementReader {
    return new ElementReader(element, this.faults, this.base)
  }

  /** Any text but control characters, which are errors: they would break out of a SIP header. */
  text(name: string): string | undefined {
    const value = this.#value(name)
    if (value === undefined || !hasControl(value)) return value
    this.error(codes.schema, `The attribute ${name} holds a line break or control character.`, name)
    return undefined
  }

  integer(name: string, min: number, max: number, fallback: number): number {
    const value = this.#value(name)
    if (value === undefined) return fallback
    const number = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    this.#unusable(name, `a whole number from ${min} to ${max}`, fallback)
    return fallback
  }

  boolean(name: string): boolean {
    const value = this.#value(name)?.trim().toLowerCase()
    if (value === 'true' || value === '1') return true
    if (value !== undefined && value !== 'false' && value !== '0')
      this.#unusable(name, 'true or false', false)
    return false
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.#value(name)
    if (value === undefined) return fallback
    const found = choices.find((choice) => choice === value.trim())
    if (found === undefined) this.#unusable(name, choices.join(', '), fallback)
    return found ?? fallback
  }

  /** Text that fits a pattern; else a warning, and the default. */
  matching(name: string, pattern: string, what: string, fallback: string): string {
    const value = this.#value(name)
    if (value === undefined || new RegExp(pattern).test(value)) return value ?? fallback
    this.#unusable(name, what, fallback)
    return fallback
  }

  /** The attributes `action` and `method` together; without an action undefined. */
  action(): Next | undefined {
    const method = this.method()
    const reference = this.#value('action')
    const url = reference === undefined ? undefined : this.url(reference, 'action')
    return url === undefined ? undefined : { url, method }
  }

  method(): 'GET' | 'POST' {
    const value = this.#value('method')
    if (value === undefined || value === 'GET' || value === 'POST') return value ?? 'POST'
    this.warning(
      codes.method,
      `The attribute method must be GET or POST, not ${JSON.stringify(value)}; POST is used.`,
      'method',
    )
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

  error(code: string, message: string, attribute?: string): void {
    this.faults.error(code, message, this.element, attribute)
  }

  warning(code: string, message: string, attribute?: string): void {
    this.faults.warning(code, message, this.element, attribute)
  }

  /** Warns of every attribute that was not read. */
  done(): void {
    for (const name of this.element.attributes.keys()) {
      if (this.#read.has(name)) continue
      this.warning(
        codes.schema,
        `The attribute ${name} of ${this.element.name} is not supported; it has no effect.`,
        name,
      )
    }
  }

  /** Warns of nested elements where none have a meaning. */
  noElements(): void {
    for (const child of this.elements()) {
      this.faults.warning(
        codes.schema,
        `${child.name} is not supported in ${this.element.name}; it has no effect.`,
        child,
      )
    }
  }

  #value(name: string): string | undefined {
    this.#read.add(name)
    return this.element.attributes.get(name)
  }

  #unusable(name: string, wanted: string, fallback: unknown): void {
    this.warning(
      codes.schema,
      `The attribute ${name} must be ${wanted}; the default ${JSON.stringify(fallback)} is used.`,
      name,
    )
  }
}
