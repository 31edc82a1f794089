import { reloadRuleOf, restartKeys } from '../../config/reload-rules.ts'
import { configSchema } from '../../config/schema.ts'

/** The parts of JSON Schema that the configuration uses. */
interface Schema {
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const variants = (schema: Schema): readonly Schema[] => schema.anyOf ?? schema.oneOf ?? []

const defaultOf = (schema: Schema, required: boolean): string => {
  if (schema.default === undefined) return required ? 'needed' : ''
  const holds = typeof schema.default === 'object' && schema.default !== null
  return holds && Object.keys(schema.default).length === 0
    ? ''
    : `\`${cell(JSON.stringify(schema.default))}\``
}

/** A group whose keys differ says nothing. */
const reloadOf = (schema: Schema, path: string): string => {
  const inner = Object.entries(schema.properties ?? {}).map(([key, child]) =>
    reloadOf(child, `${path}.${key}`),
  )
  const kinds = new Set(inner.length > 0 ? inner : [reloadRuleOf(path)?.kind ?? ''])
  return kinds.size === 1 ? [...kinds].join('') : ''
}

const rowsOf = (schema: Schema, path: string, required = false): string[] => {
  const below = [schema, ...variants(schema)]
  const keys = below.flatMap((part) =>
    Object.entries(part.properties ?? {}).flatMap(([name, child]) =>
      rowsOf(child, path === '' ? name : `${path}.${name}`, part.required?.includes(name)),
    ),
  )
  const items = below.flatMap((part) =>
    part.items?.properties || variants(part.items ?? {}).length > 0
      ? rowsOf(part.items ?? {}, `${path}[]`)
      : [],
  )
  const { additionalProperties: any } = schema
  const named = typeof any === 'object' && any.properties ? rowsOf(any, `${path}.<name>`) : []
  if (path === '') return keys
  const choices = schema.enum
    ? ` One of ${schema.enum.map((value) => `\`${String(value)}\``).join(', ')}.`
    : ''
  const own =
    path.endsWith('[]') || path.endsWith('.<name>')
      ? []
      : [
          `| \`${path}\` | ${cell((schema.description ?? '') + choices)} | ${defaultOf(schema, required)} | ${reloadOf(schema, path)} |`,
        ]
  return [...own, ...new Set([...keys, ...items, ...named])]
}

/** The page of the configuration's keys, from the schema. */
export const configurationPage = (): string =>
  [
    '# Configuration',
    '',
    'One YAML file. `scripts/trunkline check <file>` checks it and names the line and key of each mistake; a key that does not exist is a mistake.',
    '`config/example.yaml` is an annotated example, `config/schema.json` the JSON Schema for editors.',
    '',
    `- \`\${NAME}\` anywhere in a value is replaced by the environment variable; \`\${NAME:-value}\` has a default. Keep passwords there.`,
    '- Durations are a number with a unit: `500ms`, `30s`, `5m`, `4h`.',
    '- Paths are relative to the file.',
    '- *Reload* says whether a running gateway takes a change of the key over: `live`, or `restart` ([operations](operations.md#changing-the-configuration)).',
    '',
    'A handler is given as `document` (in place), `file` or `url`; see [handlers.md](handlers.md).',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    '| Key | Meaning | Default | Reload |',
    '| --- | --- | --- | --- |',
    ...rowsOf(configSchema as Schema, ''),
    '',
    '## Keys that need a restart',
    '',
    '| Key | Reason |',
    '| --- | --- |',
    ...Object.entries(restartKeys).map(([key, reason]) => `| \`${key}\` | ${cell(reason)} |`),
    '',
  ].join('\n')
