import { terminatorsPattern } from '../common/destinations.ts'

/** A piece of JSON Schema. `title` completes the sentence "must be …" in faults. */
export type Schema = Readonly<Record<string, unknown>>

const placeholderPattern = '[$%]\\{'

/** Smallest and largest value of a number. */
export type Range = readonly [min: number, max: number]

/** A number, or a text that becomes one. */
export const number = (description: string, [minimum, maximum]: Range): Schema => ({
  title: `a number from ${minimum} to ${maximum}`,
  description,
  anyOf: [
    { type: 'number', minimum, maximum },
    { type: 'string', pattern: `^-?[0-9]+(\\.[0-9]+)?$|${placeholderPattern}` },
  ],
})

/** The range of a {@link number}; undefined for another schema. */
export const rangeOf = (schema: Schema | undefined): Range | undefined => {
  const [first] = (schema?.anyOf ?? []) as readonly { minimum?: number; maximum?: number }[]
  return first?.minimum === undefined || first.maximum === undefined
    ? undefined
    : [first.minimum, first.maximum]
}

/** True or false, or a text that becomes one of them. */
export const boolean = (description: string): Schema => ({
  title: 'true or false',
  description,
  anyOf: [{ type: 'boolean' }, { type: 'string', pattern: `^(true|false)$|${placeholderPattern}` }],
})

/** Any text. */
export const text = (description: string, title = 'a text'): Schema => ({
  title,
  description,
  type: 'string',
})

/** A text that fits a pattern, or has placeholders. */
export const pattern = (of: string, description: string, title: string): Schema => ({
  ...text(description, title),
  pattern: `${of}|${placeholderPattern}`,
})

/** Whether a text whose placeholders were replaced fits its {@link pattern}; any does where the schema has none. */
export const fits = (schema: Schema | undefined, value: string): boolean => {
  const [of] = typeof schema?.pattern === 'string' ? schema.pattern.split(`|${placeholderPattern}`) : []
  return of === undefined || new RegExp(of).test(value)
}

/** One of some texts, or a text with placeholders. */
export const choice = (description: string, values: readonly string[]): Schema =>
  pattern(
    `^(${values.join('|')})$`,
    description,
    values.length < 3 ? values.join(' or ') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
  )

/** A list of such values. */
export const list = (description: string, title: string, items: Schema, more: Schema = {}): Schema => ({
  title,
  description,
  type: 'array',
  items,
  ...more,
})

/** A URL that is asked or told. */
export const url = (description: string): Schema => pattern('^https?://', description, 'an http(s) URL')

/** Where a method tells how it goes. */
export const statusUrl = (event: string): Schema => url(`Told of ${event} events.`)

/** Keys of a telephone. */
export const keys = (description: string): Schema =>
  pattern(terminatorsPattern, description, 'any of 0-9 * # A-D')

/** An object of texts. */
export const texts = (description: string): Schema => ({
  title: 'an object of texts',
  description,
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
})

/** An object that the language says nothing of. */
export const anyObject = (description: string): Schema => ({
  title: 'an object',
  description,
  type: 'object',
})

/** Any value. */
export const anything = (description: string): Schema => ({ title: 'a value', description })
