import { hasControl } from '../common/headers.ts'
import type { Speaker } from '../common/sounds.ts'
import { BadSound, readSound } from '../common/sounds.ts'
import type { Sound } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import { ranges } from './schema.ts'
import type { Variables } from './variables.ts'
import { asText } from './variables.ts'

/** A parameter whose value, once its placeholders were replaced, is not what the method needs. */
export const badValue = (name: string, message: string): VerbFailed =>
  new VerbFailed(codes.parameterInvalid, `${name} ${message}.`)

/** The parameters of a step as they are now: placeholders replaced, texts turned into what is wanted. */
export class Values {
  readonly variables: Variables
  readonly parameters: Readonly<Record<string, unknown>>

  constructor(parameters: Readonly<Record<string, unknown>>, variables: Variables) {
    this.parameters = parameters
    this.variables = variables
  }

  /** A nested object, for instance one destination of a list. */
  nested(parameters: unknown): Values {
    return new Values(parameters as Readonly<Record<string, unknown>>, this.variables)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.parameters, name)
  }

  /** A text without control characters; absent or empty: undefined. */
  text(name: string): string | undefined {
    const text = asText(this.#value(name))
    if (hasControl(text)) throw badValue(name, 'holds a line break or control character')
    return text === '' ? undefined : text
  }

  /** A number in its range; absent or empty: undefined. */
  number(name: string): number | undefined {
    const value = this.#value(name)
    if (value === undefined || value === '') return undefined
    const number = Number(value)
    const [min, max] = ranges[name] ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    if (!(number >= min && number <= max)) throw badValue(name, `must be a number from ${min} to ${max}`)
    return number
  }

  /** Seconds of the document as milliseconds. */
  seconds(name: string): number | undefined {
    const value = this.number(name)
    return value === undefined ? undefined : Math.round(value * 1000)
  }

  boolean(name: string): boolean | undefined {
    const value = this.#value(name)
    if (value === undefined || value === '') return undefined
    if (value === true || value === 'true') return true
    if (value === false || value === 'false') return false
    throw badValue(name, 'must be true or false')
  }

  /** A list of objects or texts as written. */
  list(name: string): readonly unknown[] {
    const value = this.parameters[name]
    return Array.isArray(value) ? value : []
  }

  /** A list of texts; absent: none. */
  texts(name: string): readonly string[] {
    return this.list(name).map((text) => asText(this.variables.substitute(String(text))))
  }

  /** One sound or a list of them. */
  sounds(name: string, speaker: Speaker = {}): readonly Sound[] {
    const value = this.parameters[name]
    return (Array.isArray(value) ? value : [value]).map((text) => {
      try {
        return readSound(asText(this.variables.substitute(String(text))), speaker)
      } catch (error) {
        throw error instanceof BadSound ? badValue(name, error.message) : error
      }
    })
  }

  #value(name: string): unknown {
    const value = this.parameters[name]
    return typeof value === 'string' ? this.variables.substitute(value) : value
  }
}
