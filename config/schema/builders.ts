/** JSON Schema of a value. */
export type Schema = Readonly<Record<string, unknown>>

const withDefault = (value: unknown): Schema => (value === undefined ? {} : { default: value })

/** Builders of schemas; each takes the description of its key. */
export const parts = {
  text: (description: string, value?: string): Schema => ({
    description,
    type: 'string',
    ...withDefault(value),
  }),

  /** Text in one of the formats of `formats.ts`. */
  format: (format: string, description: string, value?: string): Schema => ({
    description,
    type: 'string',
    format,
    ...withDefault(value),
  }),

  duration: (description: string, value: string): Schema => ({
    description: `${description} Written as 500ms, 30s, 5m or 4h.`,
    type: 'string',
    format: 'duration',
    default: value,
  }),

  integer: (description: string, minimum: number, maximum: number, value?: number): Schema => ({
    description,
    type: 'integer',
    minimum,
    maximum,
    ...withDefault(value),
  }),

  flag: (description: string, value: boolean): Schema => ({ description, type: 'boolean', default: value }),

  list: (description: string, items: Schema, value?: readonly unknown[]): Schema => ({
    description,
    type: 'array',
    items,
    ...withDefault(value),
  }),

  /** Object with any keys, whose values have one schema. */
  map: (description: string, value: Schema, given?: object): Schema => ({
    description,
    type: 'object',
    additionalProperties: value,
    ...withDefault(given),
  }),

  /** Object. `present`: an absent object becomes one with defaults; default true without required keys. */
  object: (
    description: string,
    properties: Readonly<Record<string, Schema>>,
    required: readonly string[] = [],
    present = required.length === 0,
  ): Schema => ({
    description,
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(present && { default: {} }),
  }),
}
