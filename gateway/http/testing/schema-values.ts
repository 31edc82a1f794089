import fc from 'fast-check'
import { anyText, hostileTexts } from './hostile-values.ts'

/** A JSON Schema, as far as the routes use it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
}

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  uri: fc
    .tuple(fc.constantFrom('http', 'https'), fc.webAuthority(), fc.array(anyText(10), { maxLength: 4 }))
    .map(([scheme, authority, path]) =>
      [`${scheme}://${authority}`, ...path.map((segment) => encodeURIComponent(segment.toWellFormed()))].join(
        '/',
      ),
    ),
  'date-time': fc
    .date({ min: new Date(0), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  date: fc
    .date({ min: new Date(0), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
}

const texts = ({ format, pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> => {
  const known = format === undefined ? undefined : formats[format]
  if (known) return known
  if (pattern !== undefined) {
    const fits = new RegExp(pattern, 'u')
    const long = fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 60) })
    try {
      return fc.oneof(fc.stringMatching(fits, { maxLength: Math.min(maxLength, 60) }), long)
    } catch {
      // It looks around itself, which nothing can be made from.
      return long
    }
  }
  const most = Math.max(minLength, Math.min(maxLength, 60))
  const fitting = hostileTexts.filter(({ length }) => length >= minLength && length <= maxLength)
  const any = fc.string({ unit: 'grapheme', minLength, maxLength: most })
  return fitting.length === 0 ? any : fc.oneof({ weight: 4, arbitrary: any }, fc.constantFrom(...fitting))
}

const numbersOf = ({ minimum = -1_000_000, maximum = 1_000_000 }: Schema) => ({
  min: Math.max(minimum, Number.MIN_SAFE_INTEGER),
  max: Math.min(maximum, Number.MAX_SAFE_INTEGER),
})

const objects = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
  const { properties = {}, required = [] } = schema
  const entries = Object.entries(properties).map(([name, of]) => [name, valuesOf(of, depth + 1)] as const)
  const known = fc.record(Object.fromEntries(entries), {
    requiredKeys: required.filter((name) => Object.hasOwn(properties, name)) as string[],
  })
  if (entries.length > 0 || schema.additionalProperties === false) return known
  return fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
}

const ofType = (type: string, schema: Schema, depth: number): fc.Arbitrary<unknown> => {
  switch (type) {
    case 'string':
      return texts(schema)
    case 'integer':
      return fc.integer(numbersOf(schema))
    case 'number':
      return fc.double({ ...numbersOf(schema), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, (schema.minItems ?? 0) + 4),
      })
    default:
      return objects(schema, depth)
  }
}

/** Values that mostly fit a schema; what a pattern or a format asks beyond that may be missed. */
export const valuesOf = (schema: Schema, depth = 0): fc.Arbitrary<unknown> => {
  if (depth > 6) return fc.constant({})
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choice = schema.oneOf ?? schema.anyOf
  if (choice) {
    // What stands beside the choice holds for each of them.
    const { oneOf: _one, anyOf: _any, ...beside } = schema
    const properties = (one: Schema) => ({ ...beside.properties, ...one.properties })
    const required = (one: Schema) => [...(beside.required ?? []), ...(one.required ?? [])]
    return fc.oneof(
      ...choice.map((one) =>
        valuesOf({ ...beside, ...one, properties: properties(one), required: required(one) }, depth + 1),
      ),
    )
  }
  const given = [schema.type ?? (schema.properties ? 'object' : [])].flat()
  if (given.length === 0) return fc.jsonValue({ maxDepth: 2 })
  return fc.oneof(...given.map((type) => ofType(type, schema, depth)))
}
