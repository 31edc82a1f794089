/** JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

/** Returns the schema of an object. A name that ends with `!` is a required field. */
export const object = (fields: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => {
  const required = Object.keys(fields).flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1)] : []))
  const properties = Object.entries(fields).map(([name, schema]) => [name.replace(/!$/, ''), schema])
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
    ...more,
  }
}

/**
 * Returns the rule that an object has at least one of these fields. Generators of types would make a union
 * with any value of an `anyOf` beside the properties.
 */
export const needsOne = (...names: readonly string[]): Schema => ({
  allOf: [{ anyOf: names.map((name) => ({ required: [name] })) }],
})

/** Returns the schema of a text that is not empty. */
export const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength: 16_384,
  description,
  ...more,
})

/** Returns the schema of one of several texts. */
export const oneOf = (values: readonly string[], description: string): Schema => ({
  type: 'string',
  enum: values,
  description,
})

/** Returns the schema of a boolean. */
export const flag = (description: string): Schema => ({ type: 'boolean', description })

/** Returns the schema of an integer. */
export const integer = (minimum: number, maximum: number, description: string): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  description,
})

/** Returns the schema of a duration. */
export const seconds = (description: string): Schema => ({
  type: 'number',
  minimum: 0,
  maximum: 86_400,
  description: `${description} In seconds.`,
})

/** Returns the schema of a list. */
export const list = (items: Schema, maxItems: number, description: string): Schema => ({
  type: 'array',
  items,
  maxItems,
  description,
})
