import type { AudioCodec } from '../../../../media/types.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { noEffect } from '../../requests/ignored-fields.ts'

/** Schema of a text on one line, without control characters. PostgreSQL cannot store NUL. */
export const text = (maxLength = 256) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }) as const

/** Maximum length of a document in characters, equal to the limit for fetched documents. */
export const maxDocumentLength = 65_536

/** Schema of the text of a document. */
export const documentText = {
  type: 'string',
  minLength: 1,
  maxLength: maxDocumentLength,
  pattern: '^[^\\u0000]*$',
} as const

/** Schema of a URL of a customer's server. The server's address is checked when the URL is used. */
export const httpUrl = {
  type: 'string',
  maxLength: 2048,
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://[^\\s]+$',
} as const

/** Schema of the method of a request to a customer's server. */
export const httpMethod = { type: 'string', enum: ['GET', 'POST'] } as const

/** Schema of an address, `/context/name`. */
export const address = {
  type: 'string',
  pattern: '^/[^/?#\\s\\u0000-\\u001f\\u007f]{1,100}/[^/?#\\s\\u0000-\\u001f\\u007f]{1,100}$',
  description: 'Address, /context/name; default derived from the name.',
} as const

/** Returns a schema that also accepts null, which removes the value. */
export const optional = <const S extends { readonly type: string; readonly enum?: readonly unknown[] }>(
  schema: S,
): Nullable<S> => {
  const { type, enum: values } = schema
  return { ...schema, type: [type, 'null'], ...(values && { enum: [...values, null] }) } as Nullable<S>
}

type Nullable<S extends { readonly type: string }> = Omit<S, 'type' | 'enum'> & {
  readonly type: readonly [S['type'], 'null']
} & (S extends { readonly enum: infer E extends readonly unknown[] }
    ? { readonly enum: readonly [...E, null] }
    : unknown)

/** Schemas of accepted fields without effect, which docs/rest-api.md lists. */
export const withoutEffect = <const N extends string>(...names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, noEffect])) as { readonly [K in N]: typeof noEffect }

/** Codecs by their names in this API. */
const codecNames = {
  PCMU: 'PCMU',
  PCMA: 'PCMA',
  G722: 'G722',
  OPUS: 'opus',
  L16: 'L16',
} as const satisfies Record<string, AudioCodec>

/** Name of a codec in this API. */
export type CodecName = keyof typeof codecNames

/** Schema of a list of audio codecs. */
export const codecs = {
  type: 'array',
  minItems: 1,
  maxItems: 5,
  uniqueItems: true,
  items: { type: 'string', enum: Object.keys(codecNames) as CodecName[] },
} as const

/** Returns the codecs of a body. */
export const codecsOf = (words: readonly CodecName[]): readonly AudioCodec[] =>
  words.map((word) => codecNames[word])

/** Returns the names of codecs in responses. */
export const codecNamesOf = (names: readonly AudioCodec[]): readonly string[] =>
  names.map((name) => name.toUpperCase())

/** Returns the defined fields of an object. */
export const withoutUndefined = <T extends object>(fields: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>

type WithoutUndefined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Returns the fields of a body without undefined ones; null becomes undefined, which removes a field. */
export const withoutUnset = <T extends object>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], null | undefined> | undefined } =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value === null ? undefined : value]],
    ),
  ) as { [K in keyof T]?: Exclude<T[K], null | undefined> | undefined }

/** Returns a time in the format of responses. */
export const timeText = (ms: number): string => new Date(ms).toISOString()

/** Returns the error for an invalid field. */
export const badField = (attribute: string, message: string): TrunklineError =>
  new TrunklineError('invalid_field', `${attribute}: ${message}`, { attribute })
