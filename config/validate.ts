import type { ErrorObject } from 'ajv'
import { closest } from '../handlers/common/spelling.ts'
import { validators } from '../handlers/common/validators.ts'
import type { Keys, Report } from './faults.ts'
import { keysOfPointer, pathOf } from './faults.ts'
import type { Schema } from './schema/builders.ts'
import { configSchema } from './schema/config-schema.ts'
import { type FormatName, formats } from './schema/formats.ts'

/** Makes validators of schemas with the formats of `formats.ts`, which add defaults. */
export const validatorOf = validators(
  { useDefaults: true, strictTypes: false },
  Object.fromEntries(Object.entries(formats).map(([name, { validate }]) => [name, validate])),
)
const errorsOf = validatorOf(configSchema)

/**
 * Checks the value against the schema and adds its defaults. `replaced` has the paths of texts with
 * variables. Such a text is converted if the schema requires a number or a boolean.
 */
export const validateSchema = (value: unknown, replaced: ReadonlySet<string>, report: Report): void => {
  convertTexts(value, configSchema, [], replaced)
  describeAll(errorsOf(value), report, configSchema)
}

/**
 * Reports the errors of a validation, at most one for each value. `root`: schema whose groups a misplaced key
 * may belong to; default none.
 */
export const describeAll = (errors: readonly ErrorObject[], report: Report, root: Schema = {}): void => {
  const wrongType = new Set(errors.filter(({ keyword }) => keyword === 'type').map((e) => e.instancePath))
  for (const error of errors) {
    // An error of then or else is also reported as one of if.
    if (error.keyword === 'if') continue
    // A value of another type breaks further rules, which say nothing new.
    if (error.keyword !== 'type' && wrongType.has(error.instancePath)) continue
    describe(error, report, root)
  }
}

/** Converts the texts with variables below a value, whose own path is `keys`. */
const convertTexts = (value: unknown, schema: Schema, keys: Keys, replaced: ReadonlySet<string>): void => {
  if (typeof value !== 'object' || value === null) return
  const { properties = {}, additionalProperties: others, items } = schema
  const group = value as Record<string | number, unknown>
  const isList = Array.isArray(value)
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const named = Object.hasOwn(properties, key) ? properties[key] : others
    const inner = isList ? items : named
    if (typeof inner !== 'object') continue
    const at = [...keys, key]
    const each = group[key]
    if (typeof each === 'string' && replaced.has(pathOf(at))) group[key] = converted(each, inner)
    else convertTexts(each, inner, at, replaced)
  }
}

const converted = (text: string, { type }: Schema): unknown => {
  const types = [type ?? 'string'].flat()
  if (types.includes('string')) return text
  const isNumber =
    (types.includes('integer') && /^\d{1,15}$/.test(text)) ||
    (types.includes('number') && /^\d{1,15}(?:\.\d{1,15})?$/.test(text))
  if (isNumber) return Number(text)
  return types.includes('boolean') && /^(true|false)$/.test(text) ? text === 'true' : text
}

const describe = (error: ErrorObject, report: Report, root: Schema): void => {
  const keys = keysOfPointer(error.instancePath)
  const schema = (error.parentSchema ?? {}) as Schema
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params.additionalProperty)
    const hint = name === '<<' ? mergeHint : hintOfKey(name, schema, root)
    report([...keys, name], 'is not a known key', { code: 'unknown-key', hint, part: 'key' })
    return
  }
  const message = messageOf(error, schema)
  const code = isUnformatted(error, schema) ? 'wrong-format' : (codes[error.keyword] ?? 'wrong-value')
  report(keys, message, { code, hint: hintOfValue(error, schema), quote: isQuoted(error) })
}

const mergeHint = 'merge keys are not supported; give a whole group an anchor, and use its alias'

const hintOf = (name: string, known: readonly string[]): string | undefined => {
  const near = closest(name, known)
  return near === undefined ? undefined : `did you mean \`${near}\`?`
}

/** Suggests a similar key of the group, or the group that has this very key. */
const hintOfKey = (name: string, { properties = {} }: Schema, root: Schema): string | undefined => {
  const [group, another] = groupsWith(name, root)
  if (group !== undefined && another === undefined) return `\`${name}\` belongs to \`${group}\``
  return hintOf(name, Object.keys(properties))
}

/** Returns the paths of the groups that have a key, without entries of lists. */
const groupsWith = (name: string, schema: Schema, path = ''): readonly string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`
    const here = path !== '' && key === name ? [path] : []
    return [...here, ...groupsWith(name, inner, at)]
  })

const hintOfValue = ({ keyword, data, params }: ErrorObject, schema: Schema): string | undefined => {
  if (keyword === 'enum' && typeof data === 'string') return hintOf(data, (schema.enum ?? []).map(String))
  if (data === null) return 'the key has no value: give it one, or remove it'
  const wanted = [params.type].flat()
  if (keyword === 'type' && wanted.includes('boolean') && /^(?:yes|no|on|off)$/i.test(String(data)))
    return `did you mean \`${/^(?:yes|on)$/i.test(String(data))}\`?`
  return undefined
}

/** Whether a number stands in place of a text with a format, such as a duration without its unit. */
const isUnformatted = ({ keyword, data }: ErrorObject, { format }: Schema): boolean =>
  keyword === 'type' && typeof data === 'number' && format !== undefined && Object.hasOwn(formats, format)

/** Codes of faults by the keyword of JSON Schema. */
const codes: Readonly<Record<string, string>> = {
  required: 'missing-key',
  type: 'wrong-type',
  enum: 'unknown-choice',
  format: 'wrong-format',
  minimum: 'out-of-range',
  maximum: 'out-of-range',
  minLength: 'wrong-length',
  maxLength: 'wrong-length',
  minItems: 'wrong-length',
  maxItems: 'wrong-length',
}

/** Whether a message quotes the value, which the file shows if it is no secret. */
const isQuoted = ({ keyword, data }: ErrorObject): boolean =>
  typeof data !== 'object' && !/^(?:min|max)(?:Length|Items)$|^required$/.test(keyword)

/** Returns the message of an error, without the value, which may be a secret. */
const messageOf = (error: ErrorObject, schema: Schema): string => {
  switch (error.keyword) {
    case 'required':
      return `the key ${String(error.params.missingProperty)} is missing`
    case 'type':
      if (isUnformatted(error, schema)) return `must be ${formats[schema.format as FormatName].expected}`
      return `must be ${typeNames([error.params.type].flat())}`
    case 'enum':
      return `must be one of ${schema.enum?.join(', ')}`
    case 'format':
      return `must be ${formats[error.params.format as FormatName].expected}`
    case 'minimum':
    case 'maximum':
      return `must be from ${schema.minimum} to ${schema.maximum}`
    case 'minLength':
      return `must have at least ${counted(schema.minLength, 'character')}`
    case 'maxLength':
      return `must have at most ${counted(schema.maxLength, 'character')}`
    case 'minItems':
      return `must have at least ${counted(schema.minItems, 'item')}`
    case 'maxItems':
      return `must have at most ${counted(schema.maxItems, 'item')}`
    case 'multipleOf':
      return `must be a multiple of ${schema.multipleOf}`
    default:
      return error.message ?? 'is not valid'
  }
}

const counted = (count: number | undefined, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

const names: Readonly<Record<string, string>> = {
  object: 'a group of keys',
  array: 'a list',
  string: 'a text (in quotes if it looks like another type)',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
}

const typeNames = (types: readonly unknown[]): string =>
  types.map((type) => names[String(type)] ?? String(type)).join(' or ')
