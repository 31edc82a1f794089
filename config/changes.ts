import { isDeepStrictEqual } from 'node:util'
import type { FileConfig } from './file-config.ts'
import { type ReloadRule, reloadRuleOf } from './rules/reload-rules.ts'
import type { Schema } from './schema/builders.ts'
import { configSchema } from './schema/config-schema.ts'

/** Difference between two configurations, without secrets. */
export interface ConfigChange {
  /** Path for messages, with the names of list entries: `carriers[acme].maxCalls`. */
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** Values as JSON; absent for entries and groups that were added or removed, and for secrets. */
  readonly before?: string
  readonly after?: string
  /** Reason for omitting the values: they are secret, or the contents of a file. */
  readonly hidden?: 'secret' | 'contents'
  readonly rule: ReloadRule
}

/** Difference with the keys that lead to the value, used only for changes that need a restart. */
interface Difference extends ConfigChange {
  readonly keys: readonly string[]
  /** Value before the change. */
  readonly value: unknown
}

/** Keys that identify an entry of a list. Other lists are compared as a whole. */
const identities: Readonly<Record<string, readonly string[]>> = {
  projects: ['id'],
  'sip.tls.names': ['host'],
  'media.speech.engines': ['name'],
  'oauth.clients': ['id'],
  domains: ['domain'],
  carriers: ['name'],
  endpoints: ['username'],
  subscribers: ['project', 'email'],
  resources: ['project', 'address'],
  rooms: ['project', 'address'],
}

/** Maximum length of a value in a report, in characters. */
const maxValueLength = 200

/** Returns the differences between the values of two files, in the order of the schema. */
export const changesBetween = (before: FileConfig, after: FileConfig): readonly ConfigChange[] =>
  differencesOf(before, after).map(({ keys: _keys, value: _value, ...change }) => change)

/** Returns the values of `after`, but with the values of `before` for every key that needs a restart. */
export const withoutRestartKeys = (before: FileConfig, after: FileConfig): FileConfig => {
  const merged = structuredClone(after)
  for (const { rule, keys, value } of differencesOf(before, after))
    if (rule.kind === 'restart') assign(merged, keys, value)
  return merged
}

const assign = (root: object, keys: readonly string[], value: unknown): void => {
  const last = keys.at(-1) ?? ''
  let at = root as Record<string, unknown>
  for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>
  if (value === undefined) delete at[last]
  else at[last] = structuredClone(value)
}

const differencesOf = (before: FileConfig, after: FileConfig): readonly Difference[] =>
  compare({ schema: configSchema, keys: [], path: '', place: '' }, before, after)

/** Position in the schema. `path` is for messages, `place` for the rules of a reload. */
interface Place {
  readonly schema: Schema
  readonly keys: readonly string[]
  readonly path: string
  readonly place: string
}

type Values = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const compare = (place: Place, before: unknown, after: unknown): readonly Difference[] => {
  if (isDeepStrictEqual(before, after)) return []
  if (isSecret(place.schema)) return [differenceAt(place, before, after)]
  if (isObject(before) && isObject(after) && hasKeys(place.schema))
    return [...new Set([...keysOf(place.schema), ...Object.keys(before), ...Object.keys(after)])].flatMap(
      (key) => compare(below(place, key), before[key], after[key]),
    )
  const identity = identities[place.place]
  if (identity && Array.isArray(before) && Array.isArray(after))
    return compareEntries(place, identity, before as Values[], after as Values[])
  return [differenceAt(place, before, after)]
}

const compareEntries = (
  place: Place,
  identity: readonly string[],
  before: readonly Values[],
  after: readonly Values[],
): readonly Difference[] => {
  const label = (entry: Values) =>
    identity.flatMap((key) => (entry[key] === undefined ? [] : [String(entry[key])])).join('/')
  const byLabel = (entries: readonly Values[]) => new Map(entries.map((entry) => [label(entry), entry]))
  const old = byLabel(before)
  const now = byLabel(after)
  const common = (one: typeof old, other: typeof old) => [...one.keys()].filter((name) => other.has(name))
  const entry = (name: string): Place => ({
    schema: place.schema.items ?? {},
    keys: [...place.keys, name],
    path: `${place.path}[${name}]`,
    place: `${place.place}[]`,
  })
  const changes = [...new Set([...old.keys(), ...now.keys()])].flatMap((name) =>
    compare(entry(name), old.get(name), now.get(name)),
  )
  const isReordered = !isDeepStrictEqual(common(old, now), common(now, old))
  return isReordered ? [...changes, differenceAt(place, common(old, now), common(now, old))] : changes
}

const differenceAt = ({ schema, keys, path, place }: Place, before: unknown, after: unknown): Difference => {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
  const rule = reloadRuleOf(place) ?? { kind: 'restart', reason: 'it has no rule' }
  const common = { path, kind, rule, keys, value: before } as const
  if (isSecret(schema)) return { ...common, hidden: 'secret' }
  // For an added or removed entry or group, only the path is reported.
  if (kind !== 'changed' && (isObject(before) || isObject(after))) return common
  const textOf = (value: unknown) => (value === undefined ? undefined : show(value, schema))
  const old = textOf(before)
  const now = textOf(after)
  return { ...common, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) }
}

const below = ({ schema, keys, path, place }: Place, key: string): Place => {
  const { properties = {}, additionalProperties: values } = schema
  const any = typeof values === 'object' ? values : {}
  const join = (to: string) => (to === '' ? key : `${to}.${key}`)
  return { schema: properties[key] ?? any, keys: [...keys, key], path: join(path), place: join(place) }
}

const keysOf = ({ properties }: Schema): readonly string[] => Object.keys(properties ?? {})

const hasKeys = (schema: Schema): boolean =>
  schema.properties !== undefined || isObject(schema.additionalProperties)

/** Returns whether a value is secret; a list is secret if its values are. */
const isSecret = ({ writeOnly, items }: Schema): boolean => writeOnly === true || items?.writeOnly === true

const show = (value: unknown, schema: Schema): string => {
  const text = JSON.stringify(withoutSecrets(value, schema)) ?? ''
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text
}

const withoutSecrets = (value: unknown, schema: Schema): unknown => {
  if (isSecret(schema)) return '(secret)'
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, schema.items ?? {}))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        withoutSecrets(each, below({ schema, keys: [], path: '', place: '' }, key).schema),
      ]),
    )
  return typeof value === 'string' ? withoutCredentials(value) : value
}

/** Returns a URL without its user, password, query and fragment, which may contain secrets. */
const withoutCredentials = (text: string): string => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  const url = URL.parse(text)
  if (!url) return '(secret)'
  if ([url.username, url.password, url.search, url.hash].every((part) => part === '')) return text
  const query = url.search === '' ? '' : '?…'
  const fragment = url.hash === '' ? '' : '#…'
  return `${url.protocol}//${url.host}${url.pathname}${query}${fragment}`
}
