import { resolve } from 'node:path'
import { parseDuration } from './durations.ts'
import type { Schema } from './schema/builders.ts'
import type { LoadedValue } from './schema/values.ts'
import { parseAge, parseSize } from './sizes.ts'

/**
 * Converts a valid value to the gateway's configuration. A duration or age `x` becomes `xMs` in milliseconds;
 * a size becomes bytes. The path of a file becomes absolute, based on `folder`. A text that may also be a
 * list of texts becomes a list.
 */
export const fromSchema = <const S extends Schema>(value: unknown, schema: S, folder: string) =>
  convert(value, schema, folder) as LoadedValue<S>

const convert = (value: unknown, schema: Schema, folder: string): unknown => {
  const { items = {}, additionalProperties: values, properties = {} } = schema
  if (Array.isArray(value)) return value.map((each) => convert(each, items, folder))
  if (typeof value === 'string')
    return schema.type?.includes('array') ? [value] : convertText(value, schema, folder)
  if (typeof value !== 'object' || value === null) return value
  const any = typeof values === 'object' ? values : {}
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const inner = properties[key] ?? any
      const name = inner.format === 'duration' || inner.format === 'age' ? `${key}Ms` : key
      return [name, convert(each, inner, folder)]
    }),
  )
}

const convertText = (text: string, { format }: Schema, folder: string): string | number => {
  switch (format) {
    case 'file-path':
      return resolve(folder, text)
    case 'size':
      return parseSize(text) ?? 0
    case 'duration':
      return parseDuration(text) ?? 0
    case 'age':
      return parseAge(text) ?? 0
    default:
      return text
  }
}
