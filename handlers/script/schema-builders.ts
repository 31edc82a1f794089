import { terminatorsPattern } from '../common/destinations.ts'

/** JSON Schema of a value. Its `title` completes the sentence "must be …" in faults. */
export type Schema = Readonly<Record<string, unknown>>

const placeholderPattern = '[$%]\\{'

/** Minimum and maximum of a number. */
export type Range = readonly [min: number, max: number]

/** Schema of a number, or of a text that becomes one. */
export const number = (description: string, [minimum, maximum]: Range): Schema => ({
  title: `a number from ${minimum} to ${maximum}`,
  description,
  anyOf: [
    { type: 'number', minimum, maximum },
    { type: 'string', pattern: `^-?[0-9]+(\\.[0-9]+)?$|${placeholderPattern}` },
  ],
})

/** Returns the range of a {@link number}; undefined for another schema. */
export const rangeOf = (schema: Schema | undefined): Range | undefined => {
  const [first] = (schema?.anyOf ?? []) as readonly { minimum?: number; maximum?: number }[]
  return first?.minimum === undefined || first.maximum === undefined
    ? undefined
    : [first.minimum, first.maximum]
}

/** Schema of true or false, or of a text that becomes one of them. */
export const boolean = (description: string): Schema => ({
  title: 'true or false',
  description,
  anyOf: [{ type: 'boolean' }, { type: 'string', pattern: `^(true|false)$|${placeholderPattern}` }],
})

/** Schema of any text. */
export const text = (description: string, title = 'a text'): Schema => ({
  title,
  description,
  type: 'string',
})

/** Schema of a text that matches a pattern or has placeholders. */
export const pattern = (of: string, description: string, title: string): Schema => ({
  ...text(description, title),
  pattern: `${of}|${placeholderPattern}`,
})

/**
 * Whether a text with replaced placeholders matches its {@link pattern}. True for a schema without a pattern.
 */
export const fits = (schema: Schema | undefined, value: string): boolean => {
  const [of] = typeof schema?.pattern === 'string' ? schema.pattern.split(`|${placeholderPattern}`) : []
  return of === undefined || new RegExp(of).test(value)
}

/** Schema of one of several words, or of a text with placeholders. */
export const choice = (description: string, values: readonly string[]): Schema =>
  pattern(
    `^(${values.join('|')})$`,
    description,
    values.length < 3 ? values.join(' or ') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
  )

/** Schema of a list. */
export const list = (description: string, title: string, items: Schema, more: Schema = {}): Schema => ({
  title,
  description,
  type: 'array',
  items,
  ...more,
})

/** Schema of an http(s) URL. */
export const url = (description: string): Schema => pattern('^https?://', description, 'an http(s) URL')

/** Schema of the URL that receives a method's status events. */
export const statusUrl = (event: string): Schema => url(`URL that receives ${event} events.`)

/** Schema of DTMF digits. */
export const keys = (description: string): Schema =>
  pattern(terminatorsPattern, description, 'any of 0-9 * # A-D')

/** Schema of an object of texts. */
export const texts = (description: string): Schema => ({
  title: 'an object of texts',
  description,
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
})

/** Schema of an object with any properties. */
export const anyObject = (description: string): Schema => ({
  title: 'an object',
  description,
  type: 'object',
})

/** Schema of any value. */
export const anything = (description: string): Schema => ({ title: 'a value', description })
