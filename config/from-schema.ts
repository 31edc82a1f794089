import { resolve } from 'node:path'
import { parseDuration } from './durations.ts'
import type { Schema } from './schema/builders.ts'
import { parseAge, parseSize } from './sizes.ts'

/**
 * Converts a valid value to the gateway's configuration. A duration or age `x` becomes `xMs` in milliseconds,
 * a size becomes bytes, and the path of a file becomes absolute, based on `folder`.
 */
export const fromSchema = <T>(value: unknown, schema: Schema, folder: string): T =>
  convert(value, schema, folder) as T

const convert = (value: unknown, schema: Schema, folder: string): unknown => {
  if (Array.isArray(value)) return value.map((each) => convert(each, (schema.items ?? {}) as Schema, folder))
  if (schema.format === 'file-path' && typeof value === 'string') return resolve(folder, value)
  if (schema.format === 'size' && typeof value === 'string') return parseSize(value) ?? 0
  if (typeof value !== 'object' || value === null) return value
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const inner = properties[key] ?? {}
      if (inner.format === 'duration') return [`${key}Ms`, parseDuration(String(each)) ?? 0]
      if (inner.format === 'age') return [`${key}Ms`, parseAge(String(each)) ?? 0]
      return [key, convert(each, inner, folder)]
    }),
  )
}
