/** JSON schemas for the kinds of fields that {@link shape} takes. */
const kinds = {
  text: { type: 'string' },
  'text?': { type: ['string', 'null'] },
  whole: { type: 'integer' },
  'whole?': { type: ['integer', 'null'] },
  'number?': { type: ['number', 'null'] },
  flag: { type: 'boolean' },
  links: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
} as const

/**
 * Returns the schema of a response object. Fields outside the schema are never sent. A kind with `?` may be
 * null.
 */
export const shape = (fields: Readonly<Record<string, keyof typeof kinds>>): object => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, kinds[kind]])),
})

/** Schemas of form and query parameters. */
export const parameter = {
  url: { type: 'string', format: 'uri', pattern: '^https?://\\S+$', maxLength: 4_000 },
  method: { type: 'string', enum: ['GET', 'POST'], default: 'POST' },
  flag: { type: 'boolean' },
  text: (maxLength: number) =>
    ({
      type: 'string',
      minLength: 1,
      maxLength,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    }) as const,
} as const
