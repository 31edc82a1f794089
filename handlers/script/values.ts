import { hasControlCharacter } from '../common/headers.ts'
import type { Speaker } from '../common/sounds.ts'
import { InvalidSound, readSound } from '../common/sounds.ts'
import type { Sound } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import type { MethodSpec } from './method.ts'
import { fits, rangeOf } from './schema-builders.ts'
import { Branches, StepList } from './steps.ts'
import { asText } from './variables.ts'

/** A parameter whose value, once its placeholders were replaced, is not what the method needs. */
export const badValue = (name: string, message: string): VerbFailed =>
  new VerbFailed(codes.parameterInvalid, `${name} ${message}.`)

/** The parameters of a step whose placeholders were replaced: texts are turned into what is wanted. */
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

  /** A nested object, for instance one destination of a list. */
  nested(parameters: unknown): Values {
    return new Values(parameters as Readonly<Record<string, unknown>>, this.#spec, this.path)
  }

  /** True where the parameter is written. */
  has(name: string): boolean {
    return Object.hasOwn(this.parameters, name)
  }

  /** A text without control characters that fits its schema; absent or empty: undefined. */
  text(name: string): string | undefined {
    const text = asText(this.parameters[name])
    if (hasControlCharacter(text)) throw badValue(name, 'holds a line break or control character')
    if (text === '') return undefined
    const schema = this.#spec.properties[name]
    if (!fits(schema, text)) throw badValue(name, `must be ${schema?.title}`)
    return text
  }

  /** A text that has to be there. */
  needed(name: string): string {
    const text = this.text(name)
    if (text === undefined) throw badValue(name, 'is empty')
    return text
  }

  /** One of the texts of its schema; absent or empty: undefined. */
  choice<T extends string>(name: string): T | undefined {
    return this.text(name) as T | undefined
  }

  /** An absolute `http(s)` URL; absent or empty: undefined. */
  url(name: string): string | undefined {
    const text = this.text(name)
    if (text !== undefined && !/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
      throw badValue(name, 'must be an http(s) URL')
    return text
  }

  /** A number in its range; absent or empty: undefined. */
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

  /** Seconds of the document as milliseconds. */
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

  /** A list; absent: empty. */
  list(name: string): readonly unknown[] {
    const value = this.parameters[name]
    return Array.isArray(value) ? value : []
  }

  /** A list of texts; absent: empty. */
  texts(name: string): readonly string[] {
    return this.list(name).map(asText)
  }

  /** An object; anything else: undefined. */
  object(name: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.parameters[name]
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  }

  /** One sound or a list of them. */
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

  /** Steps inside of the parameter; absent: undefined. */
  steps(name: string): StepList | undefined {
    const value = this.parameters[name]
    return value instanceof StepList ? value : undefined
  }

  /** Steps of which some are chosen; absent: undefined. */
  branches(name: string): Branches | undefined {
    const value = this.parameters[name]
    return value instanceof Branches ? value : undefined
  }
}
