import { isJsonObject } from '../../core/json.ts'

/**
 * Rejection of a request. The result has a code other than 2xx. The client's promise rejects with this code
 * and the message.
 */
export class Refusal extends Error {
  /** Like an HTTP status. */
  readonly code: string
  /** Field at fault, dotted; undefined if no single field is at fault. */
  readonly attribute: string | undefined

  constructor(code: string, message: string, attribute?: string) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.attribute = attribute
  }
}

const maxSeconds = 86_400
const maxTextLength = 16_384

/**
 * Reads the fields of an object from an application. A missing or null field is undefined; a field of another
 * type is rejected with 400.
 */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #path: string

  /** `path` names the object in messages; empty for the params themselves. */
  constructor(value: unknown, path = '') {
    if (!isJsonObject(value)) throw wrong(path || 'params', 'an object', value)
    this.#values = value
    this.#path = path
  }

  /** All fields, unchecked. */
  get all(): Readonly<Record<string, unknown>> {
    return this.#values
  }

  /** Value, unchecked. */
  raw(name: string): unknown {
    return this.#values[name] ?? undefined
  }

  /** Value, unchecked but for its size, for events that repeat it. */
  repeated(name: string): unknown {
    return repeatable(this.raw(name), this.#at(name))
  }

  text(name: string): string | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string' || value === '') throw this.wrong(name, 'a text that is not empty')
    if (value.length > maxTextLength)
      throw this.wrong(name, `at most ${maxTextLength} characters`, value.length)
    return value
  }

  /** Required field, as {@link text}. */
  needed(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw this.wrong(name, 'a text that is not empty')
    return value
  }

  flag(name: string): boolean | undefined {
    const value = this.raw(name)
    if (value !== undefined && typeof value !== 'boolean') throw this.wrong(name, 'true or false')
    return value
  }

  number(name: string, min: number, max: number): number | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (typeof value !== 'number' || !(value >= min && value <= max))
      throw this.wrong(name, `a number from ${min} to ${max}`)
    return value
  }

  integer(name: string, min: number, max: number): number | undefined {
    const value = this.number(name, min, max)
    if (value !== undefined && !Number.isInteger(value)) throw this.wrong(name, 'a whole number')
    return value
  }

  /** A number of seconds, as milliseconds. */
  seconds(name: string): number | undefined {
    const value = this.number(name, 0, maxSeconds)
    return value === undefined ? undefined : Math.round(value * 1000)
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    const found = values.find((each) => each === value)
    if (found === undefined) throw this.wrong(name, `one of ${values.join(', ')}`)
    return found
  }

  /** An object below. */
  fields(name: string): Fields | undefined {
    const value = this.raw(name)
    return value === undefined ? undefined : new Fields(value, this.#at(name))
  }

  /** A list, each entry read by `read`; a missing one is empty. */
  list<T>(name: string, max: number, read: (value: unknown, path: string) => T): T[] {
    const value = this.raw(name)
    if (value === undefined) return []
    return listOf(value, this.#at(name), max, read)
  }

  /** Returns the rejection of a value. */
  wrong(name: string, expected: string, found: unknown = this.raw(name)): Refusal {
    return wrong(this.#at(name), expected, found)
  }

  #at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }
}

/** Reads a list with a maximum length, each entry with `read`. */
export const listOf = <T>(
  value: unknown,
  path: string,
  max: number,
  read: (value: unknown, path: string) => T,
): T[] => {
  if (!Array.isArray(value)) throw wrong(path, 'a list', value)
  if (value.length > max) throw wrong(path, `at most ${max} entries`, value.length)
  return value.map((each, i) => read(each, `${path}[${i}]`))
}

/** Checks the size of a value that events repeat. Events wait for a client that is away. */
export const repeatable = (value: unknown, path: string): unknown => {
  const { length } = JSON.stringify(value) ?? ''
  if (length > maxTextLength) throw wrong(path, `at most ${maxTextLength} characters`, length)
  return value
}

/** Reads a text that is not empty. */
export const textOf = (value: unknown, path: string): string => {
  if (typeof value !== 'string' || value === '') throw wrong(path, 'a text that is not empty', value)
  return value
}

const wrong = (path: string, expected: string, found: unknown): Refusal =>
  new Refusal('400', `${path}: expected ${expected}, found ${described(found)}`, path)

const described = (value: unknown): string =>
  value === undefined || value === null ? 'nothing' : (JSON.stringify(value) ?? typeof value).slice(0, 60)
