import type { Method } from './method.ts'
import { parametersSchema } from './method-check.ts'
import type { NestedKind } from './method-spec.ts'
import { confirmMethods, methods } from './methods/index.ts'
import type { Schema } from './schema-builders.ts'

const reference = (name: string): Schema => ({ $ref: `#/definitions/${name}` })

const nestedSchemas: Readonly<Record<NestedKind, Schema>> = {
  steps: reference('steps'),
  cases: reference('switch'),
  conditions: reference('cond'),
  branches: { anyOf: [reference('result'), reference('cond')] },
  confirm: { anyOf: [{ type: 'string' }, reference('confirm')] },
}

/** Returns the schema of a parameter, including its nested steps. */
const withSteps = (schema: Schema, method: Method): Schema => {
  const { nested = {}, lists = [] } = method
  const properties = schema.properties as Readonly<Record<string, Schema>> | undefined
  if (properties)
    return {
      ...schema,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => {
          const kind = Object.hasOwn(nested, name) ? nested[name] : undefined
          if (kind) return [name, { ...property, ...nestedSchemas[kind] }]
          return [name, lists.includes(name) ? withSteps(property, method) : property]
        }),
      ),
    }
  return schema.items ? { ...schema, items: withSteps(schema.items as Schema, method) } : schema
}

const schemaOf = (method: Method): Schema => {
  const schema = withSteps(parametersSchema(method), method)
  const properties = schema.properties as Readonly<Record<string, Schema>>
  if (method.wholeParameter !== undefined)
    return { ...properties[method.wholeParameter], description: method.description }
  const alone = method.exactlyOne?.map((key) => ({ required: [key] }))
  const object = { ...schema, ...(alone && { oneOf: alone }) }
  const short = method.shorthand === undefined ? undefined : properties[method.shorthand]
  if (!short && !isBare(method)) return object
  return { anyOf: [object, ...(short ? [short] : []), ...(isBare(method) ? [{ type: 'null' }] : [])] }
}

const isBare = ({ required = [], exactlyOne }: Method): boolean => required.length === 0 && !exactlyOne

const stepsOf = (names: readonly string[]): Schema => {
  const some = [...methods].filter(([name]) => names.includes(name))
  const bare = some.flatMap(([name, method]) => (isBare(method) ? [name] : []))
  return {
    type: 'array',
    items: {
      anyOf: [
        { type: 'string', enum: bare },
        ...some.map(([name, method]) => ({
          type: 'object',
          properties: { [name]: schemaOf(method) },
          required: [name],
          additionalProperties: false,
        })),
      ],
    },
  }
}

const cases = (needed: readonly string[]): Schema => ({
  type: 'object',
  properties: {
    variable: { description: 'Name of the variable whose value decides.', type: 'string', minLength: 1 },
    case: { description: 'Steps by value.', type: 'object', additionalProperties: reference('steps') },
    default: { description: 'Steps for any other value.', ...reference('steps') },
  },
  required: needed,
  additionalProperties: false,
})

const conditions: Schema = {
  type: 'array',
  items: {
    anyOf: [
      {
        type: 'object',
        properties: {
          when: { description: 'JavaScript.', type: ['string', 'boolean'], minLength: 1 },
          // biome-ignore lint/suspicious/noThenProperty: it is the language's name
          then: reference('steps'),
          else: reference('steps'),
        },
        required: ['when', 'then'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: { else: reference('steps') },
        required: ['else'],
        additionalProperties: false,
      },
    ],
  },
}

/** JSON Schema of the language, for editors and documentation. The document reader checks further rules. */
export const scriptSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Trunkline script document',
  type: 'object',
  properties: {
    version: { description: 'Version of the language; default 1.0.0.', const: '1.0.0' },
    sections: {
      description: 'Lists of steps by name; main is run.',
      type: 'object',
      properties: { main: reference('steps') },
      required: ['main'],
      additionalProperties: reference('steps'),
    },
  },
  required: ['sections'],
  additionalProperties: false,
  definitions: {
    steps: stepsOf([...methods.keys()]),
    confirm: stepsOf([...confirmMethods]),
    switch: cases(['variable', 'case']),
    result: cases(['case']),
    cond: conditions,
  },
}
