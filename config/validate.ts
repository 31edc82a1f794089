import type { ErrorObject } from 'ajv'
import { Ajv } from 'ajv'
import type { Report } from './faults.ts'
import { keysOfPointer, pathOf } from './faults.ts'
import type { Schema } from './schema/builders.ts'
import { configSchema } from './schema/config-schema.ts'
import { type FormatName, formats } from './schema/formats.ts'
import { closest } from './suggest.ts'

/** Validator with the formats of `formats.ts`. It adds defaults. */
export const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  allowUnionTypes: true,
  strictTypes: false,
  // Optimization would double the time of the compilation.
  code: { optimize: false },
})
for (const [name, { validate }] of Object.entries(formats)) ajv.addFormat(name, validate)
const validate = ajv.compile(configSchema)

/**
 * Checks the value against the schema and adds its defaults. `replaced` has the paths of texts with
 * variables. Such a text is converted if the schema requires a number or a boolean.
 */
export const validateSchema = (value: unknown, replaced: ReadonlySet<string>, report: Report): void => {
  if (validate(value)) return
  const converted = (validate.errors ?? []).filter((error) => convertText(value, error, replaced))
  if (converted.length > 0 && validate(value)) return
  describeAll(validate.errors, report)
}

/** Reports the errors of a validation. */
export const describeAll = (errors: readonly ErrorObject[] | null | undefined, report: Report): void => {
  // An error of then or else is also reported as one of if.
  for (const error of errors ?? []) if (error.keyword !== 'if') describe(error, report)
}

const convertText = (root: unknown, error: ErrorObject, replaced: ReadonlySet<string>): boolean => {
  const keys = keysOfPointer(error.instancePath)
  if (error.keyword !== 'type' || typeof error.data !== 'string' || !replaced.has(pathOf(keys))) return false
  const types = [error.params.type].flat()
  const isNumber = types.includes('integer') && /^\d{1,15}$/.test(error.data)
  const isBoolean = types.includes('boolean') && /^(true|false)$/.test(error.data)
  if (!isNumber && !isBoolean) return false
  const parent = keys.slice(0, -1).reduce((at, key) => (at as Record<string | number, unknown>)[key], root)
  const last = keys.at(-1) ?? ''
  ;(parent as Record<string | number, unknown>)[last] = isNumber ? Number(error.data) : error.data === 'true'
  return true
}

const describe = (error: ErrorObject, report: Report): void => {
  const keys = keysOfPointer(error.instancePath)
  const extra = error.keyword === 'additionalProperties' ? [String(error.params.additionalProperty)] : []
  report([...keys, ...extra], messageOf(error))
}

/** Returns the message of an error, without the value, which may be a secret. */
const messageOf = (error: ErrorObject): string => {
  const schema = (error.parentSchema ?? {}) as Schema
  switch (error.keyword) {
    case 'additionalProperties': {
      const near = closest(String(error.params.additionalProperty), Object.keys(schema.properties ?? {}))
      return `is not a known key${near ? `; did you mean ${near}?` : ''}`
    }
    case 'required':
      return `the key ${String(error.params.missingProperty)} is missing`
    case 'type':
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
  boolean: 'true or false',
  null: 'null',
}

const typeNames = (types: readonly unknown[]): string =>
  types.map((type) => names[String(type)] ?? String(type)).join(' or ')
