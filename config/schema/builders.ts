import type { FormatName } from './formats.ts'

/** Part of JSON Schema that the configuration uses. */
export interface Schema {
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  /** Whether the value is a secret, which no message or report may contain. */
  readonly writeOnly?: boolean
  readonly properties?: Properties
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly if?: Schema
  readonly then?: Schema
  readonly else?: Schema
}

/** Schemas by the names of their keys. */
export type Properties = Readonly<Record<string, Schema>>

type Default<D> = D extends undefined ? Readonly<Record<never, never>> : { readonly default: unknown }

const withDefault = <D>(value: D) => (value === undefined ? {} : { default: value }) as Default<D>

/*
 * Each builder takes the description of its key first, which is the documentation of the key. The optional
 * last argument is the default. `values.ts` reads the types of keys from the literal types of the results.
 */

/** Returns the schema of a text. */
export const text = <const D extends string | undefined = undefined>(description: string, value?: D) =>
  ({ description, type: 'string', ...withDefault(value as D) }) as const

/** Returns the schema of a secret text. */
export const secret = (description: string, minLength?: number) =>
  ({ ...text(description), ...(minLength !== undefined && { minLength }), writeOnly: true }) as const

/** Returns the schema of a text that is one of `values`. */
export const choice = <
  const V extends readonly string[],
  const D extends NoInfer<V[number]> | undefined = undefined,
>(
  description: string,
  values: V,
  value?: D,
) => ({ ...text(description, value as D), enum: values }) as const

/** Returns the schema of a text in one of the formats of `formats.ts`. */
export const format = <const F extends FormatName, const D extends string | undefined = undefined>(
  name: F,
  description: string,
  value?: D,
) => ({ description, type: 'string', format: name, ...withDefault(value as D) }) as const

/** Returns the schema of a duration that always has a value. */
export const duration = (description: string, value: string) =>
  format('duration', `${description} Written as 500ms, 30s, 5m or 4h.`, value)

/** Returns the schema of an integer. */
export const integer = <const D extends number | undefined = undefined>(
  description: string,
  minimum: number,
  maximum: number,
  value?: D,
) => ({ description, type: 'integer', minimum, maximum, ...withDefault(value as D) }) as const

/** Returns the schema of a number that may have a fraction. */
export const number = (description: string, minimum: number, maximum: number) =>
  ({ description, type: 'number', minimum, maximum }) as const

/** Returns the schema of a boolean. */
export const flag = (description: string, value: boolean) =>
  ({ description, type: 'boolean', default: value }) as const

/** Returns the schema of a list. */
export const list = <const I extends Schema, const D extends readonly unknown[] | undefined = undefined>(
  description: string,
  items: I,
  value?: D,
) => ({ description, type: 'array', items, ...withDefault(value as D) }) as const

/** Returns the schema of an object with any keys, whose values have one schema. */
export const map = <const V extends Schema, const D extends object | undefined = undefined>(
  description: string,
  values: V,
  value?: D,
) => ({ description, type: 'object', additionalProperties: values, ...withDefault(value as D) }) as const

/** Returns the schema of an object without a default, such as an optional group or an entry of a list. */
export const object = <
  const P extends Properties,
  const R extends readonly (keyof P & string)[] = readonly [],
>(
  description: string,
  properties: P,
  required?: R,
) =>
  ({
    description,
    type: 'object',
    properties,
    ...(required && { required }),
    additionalProperties: false,
  }) as const

/** Returns the schema of an object that is always present: if it is absent, its keys have their defaults. */
export const group = <const P extends Properties>(description: string, properties: P) =>
  ({ ...object(description, properties), default: {} }) as const
