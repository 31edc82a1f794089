import { asText } from '../common/as-text.ts'
import { hasControlCharacter } from '../common/headers.ts'
import type { Speaker } from '../common/sounds.ts'
import { InvalidSound, readSound } from '../common/sounds.ts'
import type { Sound } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import type { MethodSpec } from './method-spec.ts'
import { fits, rangeOf } from './schema-builders.ts'
import { Branches, StepList } from './steps.ts'

/** Returns the error of a parameter whose value is invalid after the replacement of placeholders. */
export const badValue = (name: string, message: string): VerbFailed =>
  new VerbFailed(codes.parameterInvalid, `${name} ${message}.`)

/** Parameters of a step with replaced placeholders, converted to the types that the method needs. */
export class Values {
  readonly parameters: Readonly<Record<string, unknown>>
  /** JSON pointer of the step. */
  readonly path: string
  readonly #spec: MethodSpec

  constructor(parameters: Readonly<Record<string, unknown>>, spec: MethodSpec, path: string) {
    this.parameters = parameters
    this.path = path
    this.#spec = spec
  }

  /** Returns the parameters of a nested object, for instance of a destination in a list. */
  nested(parameters: unknown): Values {
    return new Values(parameters as Readonly<Record<string, unknown>>, this.#spec, this.path)
  }

  /** Whether the step has the parameter. */
  has(name: string): boolean {
    return Object.hasOwn(this.parameters, name)
  }

  /** Returns a text without control characters that matches its schema; undefined if absent or empty. */
  text(name: string): string | undefined {
    const text = asText(this.parameters[name])
    if (hasControlCharacter(text)) throw badValue(name, 'contains a line break or control character')
    if (text === '') return undefined
    const schema = this.#spec.properties[name]
    if (!fits(schema, text)) throw badValue(name, `must be ${schema?.title}`)
    return text
  }

  /** Returns a required text. */
  needed(name: string): string {
    const text = this.text(name)
    if (text === undefined) throw badValue(name, 'is empty')
    return text
  }

  /** Returns one of the words of its schema; undefined if absent or empty. */
  choice<T extends string>(name: string): T | undefined {
    return this.text(name) as T | undefined
  }

  /** Returns an absolute `http(s)` URL; undefined if absent or empty. */
  url(name: string): string | undefined {
    const text = this.text(name)
    if (text !== undefined && !/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
      throw badValue(name, 'must be an http(s) URL')
    return text
  }

  /** Returns a number within its range; undefined if absent or empty. */
  number(name: string): number | undefined {
    const value = this.parameters[name]
    if (value === undefined || value === '') return undefined
    const number = Number(value)
    const [min, max] = rangeOf(this.#spec.properties[name]) ?? [
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]
    if (!(number >= min && number <= max)) throw badValue(name, `must be a number from ${min} to ${max}`)
    return number
  }

  /** Returns a number of seconds as milliseconds. */
  seconds(name: string): number | undefined {
    const value = this.number(name)
    return value === undefined ? undefined : Math.round(value * 1000)
  }

  boolean(name: string): boolean | undefined {
    const value = this.parameters[name]
    if (value === undefined || value === '') return undefined
    if (value === true || value === 'true') return true
    if (value === false || value === 'false') return false
    throw badValue(name, 'must be true or false')
  }

  /** Returns a list; empty if absent. */
  list(name: string): readonly unknown[] {
    const value = this.parameters[name]
    return Array.isArray(value) ? value : []
  }

  /** Returns a list of texts; empty if absent. */
  texts(name: string): readonly string[] {
    return this.list(name).map(asText)
  }

  /** Returns an object; undefined for any other value. */
  object(name: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.parameters[name]
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  }

  /** Returns one sound or a list of sounds. */
  sounds(name: string, speaker: Speaker = {}): readonly Sound[] {
    const value = this.parameters[name]
    return (Array.isArray(value) ? value : [value]).map((item) => {
      try {
        return readSound(asText(item), speaker)
      } catch (error) {
        throw error instanceof InvalidSound ? badValue(name, error.message) : error
      }
    })
  }

  /** Returns nested steps; undefined if absent. */
  steps(name: string): StepList | undefined {
    const value = this.parameters[name]
    return value instanceof StepList ? value : undefined
  }

  /** Returns alternative steps; undefined if absent. */
  branches(name: string): Branches | undefined {
    const value = this.parameters[name]
    return value instanceof Branches ? value : undefined
  }
}
