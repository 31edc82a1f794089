import type { AgentFault, Json } from './document-types.ts'
import { booleanOf, clamp, isObject, isPlaceholder, numberOf, textOf } from './values.ts'

/** Maximum number of faults, and of warnings, of one document. */
const maxFindings = 100

/** Faults and warnings of one reading. */
export class Findings {
  readonly faults: AgentFault[] = []
  readonly warnings: AgentFault[] = []

  /** Adds a fault, which prevents the agent. */
  fault(path: string, message: string): void {
    if (this.faults.length < maxFindings) this.faults.push({ path, message })
  }

  /** Adds a warning. */
  warn(path: string, message: string): void {
    if (this.warnings.length < maxFindings) this.warnings.push({ path, message })
  }
}

const keyOf = (key: string): string => key.slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')

/**
 * Object of a document that is read leniently. A value of the wrong type counts as absent, with a warning.
 * Keys that nothing has read can be listed by {@link unknown}.
 */
export class Section {
  readonly value: Json
  /** JSON pointer of the object. */
  readonly path: string
  readonly findings: Findings
  readonly #read = new Set<string>()

  constructor(value: Json, path: string, findings: Findings) {
    this.value = value
    this.path = path
    this.findings = findings
  }

  /** Returns the JSON pointer of a key. */
  at(key: string | number): string {
    return `${this.path}/${keyOf(String(key))}`
  }

  /** Warns about the value of a key. */
  warn(key: string, message: string): void {
    this.findings.warn(this.at(key), message)
  }

  /** Whether the object has a key with a value other than null. */
  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  /** Returns any value; undefined if it is absent or null. */
  get(key: string): unknown {
    this.#read.add(key)
    return Object.hasOwn(this.value, key) ? (this.value[key] ?? undefined) : undefined
  }

  /** Returns a text that is not empty, also of a number or truth. */
  text(...keys: readonly string[]): string | undefined {
    return this.#first(keys, (value) => textOf(value), 'a text') || undefined
  }

  /** Returns a number. A number outside of the range is clamped, with a warning. */
  number(key: string, range: readonly [min: number, max: number]): number | undefined {
    const number = this.#first([key], numberOf, 'a number')
    if (number === undefined) return undefined
    const clamped = clamp(number, range)
    if (clamped !== number)
      this.warn(key, `must be a number from ${range[0]} to ${range[1]}; ${clamped} is used`)
    return clamped
  }

  /** Returns true or false. */
  boolean(key: string): boolean | undefined {
    return this.#first([key], booleanOf, 'true or false')
  }

  /** Returns an object as it is. */
  object(key: string): Json | undefined {
    return this.#first([key], (value) => (isObject(value) ? value : undefined), 'an object')
  }

  /** Returns an object whose keys are read one by one. */
  section(key: string): Section | undefined {
    const value = this.object(key)
    return value && new Section(value, this.at(key), this.findings)
  }

  /** Returns a list of at most `max` items; the rest is left out with a warning. Empty if absent. */
  list(key: string, max: number): readonly unknown[] {
    const list = this.#first([key], (value) => (Array.isArray(value) ? value : undefined), 'a list') ?? []
    if (list.length > max) this.warn(key, `must have at most ${max} items; the others are left out`)
    return list.slice(0, max)
  }

  /** Returns the objects of a list, each of which is read one by one. Other items are left out. */
  sections(key: string, max: number): readonly Section[] {
    return this.list(key, max).flatMap((item, index) => {
      const path = `${this.at(key)}/${index}`
      if (isObject(item)) return new Section(item, path, this.findings)
      // A placeholder becomes an object when the script runs.
      if (!isPlaceholder(item)) this.findings.warn(path, 'must be an object')
      return []
    })
  }

  /** Returns the texts of a list; one text stands for a list. Undefined if absent. */
  texts(key: string, max: number): readonly string[] | undefined {
    const value = this.get(key)
    if (value === undefined) return undefined
    const alone = textOf(value)
    if (alone !== undefined) return [alone]
    return this.list(key, max).flatMap((item, index) => {
      const text = textOf(item)
      if (text === undefined) this.findings.warn(`${this.at(key)}/${index}`, 'must be a text')
      return text ?? []
    })
  }

  /** Returns phrases by language. A list, or one text, stands for the language `default`. */
  phrases(key: string): Readonly<Record<string, readonly string[]>> | undefined {
    const value = this.get(key)
    if (value === undefined) return undefined
    if (!isObject(value)) {
      const phrases = this.texts(key, maxPhrases) ?? []
      return phrases.length > 0 ? { default: phrases } : undefined
    }
    const section = new Section(value, this.at(key), this.findings)
    const entries = Object.keys(value).slice(0, maxPhraseLanguages)
    return Object.fromEntries(entries.map((code) => [code, section.texts(code, maxPhrases) ?? []]))
  }

  /** Returns one of several words. */
  choice<T extends string>(key: string, words: readonly T[]): T | undefined {
    const find = (value: unknown): T | undefined =>
      words.find((word) => word === textOf(value)?.toLowerCase())
    return this.#first([key], find, `one of ${words.join(', ')}`)
  }

  /** Returns the keys that nothing has read. */
  unknown(): readonly string[] {
    return Object.keys(this.value).filter((key) => !this.#read.has(key))
  }

  /** Names the keys that nothing has read in one warning each. */
  warnUnknown(): void {
    for (const key of this.unknown()) this.warn(key, 'is unknown and has no effect')
  }

  /** Returns the first of several keys that has a value of the right type. Warns about the others. */
  #first<T>(
    keys: readonly string[],
    read: (value: unknown) => T | undefined,
    expected: string,
  ): T | undefined {
    for (const key of keys) {
      const value = this.get(key)
      if (value === undefined) continue
      const result = read(value)
      if (result !== undefined) return result
      this.warn(key, `must be ${expected}`)
    }
    return undefined
  }
}

/** Maximum number of phrases for one language. */
const maxPhrases = 50

/** Maximum number of languages with phrases. */
const maxPhraseLanguages = 50
