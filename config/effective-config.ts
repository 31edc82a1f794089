import { ConfigSource } from './config-source.ts'
import { readConfigText } from './config-text.ts'
import type { Environment } from './environment.ts'
import { type Keys, pathOf } from './faults.ts'
import { readConfig } from './load.ts'
import type { Schema } from './schema/builders.ts'
import { configSchema } from './schema/config-schema.ts'
import { isSecretName, maskedSecret, withoutUrlSecrets } from './secret-mask.ts'

/** Origin of a value: written in the file, from a variable of the environment, or the key's default. */
export type Origin = 'file' | 'environment' | 'default'

/** One value of a configuration, with secrets masked. */
export interface EffectiveValue {
  /** Path of the key, such as `sip.listen[0].port`. */
  readonly key: string
  /** A single value, or an empty list or group. */
  readonly value: unknown
  readonly origin: Origin
}

/**
 * Returns every value of a configuration file in the order of the schema, with its origin. Values that the
 * gateway computes at its start are left out, such as generated keys. Throws {@link ConfigInvalid}.
 */
export const effectiveConfig = (file: string, env: Environment = process.env): readonly EffectiveValue[] => {
  const { values } = readConfig(file, env)
  const source = new ConfigSource(file, readConfigText(file), env)
  const originOf = (keys: Keys): Origin => {
    if (!source.has(keys)) return 'default'
    return source.replaced.has(pathOf(keys)) ? 'environment' : 'file'
  }
  return leaves(values, { keys: [], schema: configSchema, isHidden: false }).map(({ keys, value }) => ({
    key: pathOf(keys),
    value,
    origin: originOf(keys),
  }))
}

interface Place {
  readonly keys: Keys
  readonly schema: Schema
  readonly isHidden: boolean
}

interface Leaf {
  readonly keys: Keys
  readonly value: unknown
}

const leaves = (value: unknown, { keys, schema, isHidden }: Place): readonly Leaf[] => {
  const hides = isHidden || schema.writeOnly === true
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((each, index) =>
      leaves(each, { keys: [...keys, index], schema: schema.items ?? {}, isHidden: hides }),
    )
  if (isGroup(value) && Object.keys(value).length > 0)
    return groupLeaves(value, { keys, schema, isHidden: hides })
  return [{ keys, value: shown(value, hides) }]
}

const groupLeaves = (value: object, { keys, schema, isHidden }: Place): readonly Leaf[] => {
  const { properties = {}, additionalProperties: any } = schema
  const order = Object.keys(properties)
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length)
  return Object.entries(value)
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .flatMap(([name, inner]) => {
      const at = [...keys, name]
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (name === 'document' && known) return [{ keys: at, value: documentText(inner) }]
      const below = known ?? (typeof any === 'object' ? any : {})
      return leaves(inner, { keys: at, schema: below, isHidden: isHidden || (!known && isSecretName(name)) })
    })
}

const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shown = (value: unknown, isHidden: boolean): unknown => {
  if (isHidden && value !== null && typeof value !== 'object') return maskedSecret
  return typeof value === 'string' ? withoutUrlSecrets(value) : value
}

/** Returns a document's size in place of its text, which may hold passwords. */
const documentText = (document: unknown): string => {
  const lines = typeof document === 'string' ? document.trimEnd().split('\n').length : 0
  return lines === 0 ? '(document)' : `(document of ${lines} ${lines === 1 ? 'line' : 'lines'})`
}
