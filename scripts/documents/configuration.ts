import { reloadRuleOf, restartKeys } from '../../config/rules/reload-rules.ts'
import type { Schema } from '../../config/schema/builders.ts'
import { configSchema } from '../../config/schema/config-schema.ts'
import { tableCell } from './table-cell.ts'

const defaultOf = (schema: Schema, required: boolean): string => {
  if (schema.default === undefined) return required ? 'needed' : ''
  const holds = typeof schema.default === 'object' && schema.default !== null
  return holds && Object.keys(schema.default).length === 0
    ? ''
    : tableCell(`\`${JSON.stringify(schema.default)}\``)
}

/** Returns the reload rule of a key; empty for a group whose keys differ. */
const reloadOf = (schema: Schema, path: string): string => {
  const inner = Object.entries(schema.properties ?? {}).map(([key, child]) =>
    reloadOf(child, `${path}.${key}`),
  )
  const kinds = new Set(inner.length > 0 ? inner : [reloadRuleOf(path)?.kind ?? ''])
  return kinds.size === 1 ? [...kinds].join('') : ''
}

const rowsOf = (schema: Schema, path: string, required = false): string[] => {
  const keys = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    rowsOf(child, path === '' ? name : `${path}.${name}`, schema.required?.includes(name)),
  )
  const items = schema.items?.properties ? rowsOf(schema.items, `${path}[]`) : []
  const { additionalProperties: any } = schema
  const named = typeof any === 'object' && any.properties ? rowsOf(any, `${path}.<name>`) : []
  if (path === '') return keys
  const choices = schema.enum
    ? ` One of ${schema.enum.map((value) => `\`${String(value)}\``).join(', ')}.`
    : ''
  const meaning = tableCell((schema.description ?? '') + choices)
  const own =
    path.endsWith('[]') || path.endsWith('.<name>')
      ? []
      : [`| ${[`\`${path}\``, meaning, defaultOf(schema, required), reloadOf(schema, path)].join(' | ')} |`]
  return [...own, ...new Set([...keys, ...items, ...named])]
}

/** Returns the page of the configuration's keys, from the schema. */
export const configurationPage = (): string =>
  [
    '# Configuration',
    '',
    'The configuration is one YAML file. `scripts/trunkline check <file>` reports the line and key of',
    'each error; unknown keys are errors. `config/example.yaml` is an annotated example, and ' +
      '`config/schema.json` is',
    'the JSON Schema for editors.',
    '',
    `- \`\${NAME}\` in a value is replaced by the environment variable; \`\${NAME:-value}\` has a default.`,
    '  Use it for passwords.',
    '- Durations are a number with a unit: `500ms`, `30s`, `5m`, `4h`.',
    '  Retention times are `36h` or `30d`, sizes `512MiB` or `20GiB`.',
    '- Paths are relative to the file.',
    '- *Default*: `needed` marks a key that must be set. If the cell is empty, *Meaning* has the',
    '  default, if any.',
    '- *Reload*: a reload applies a change of a `live` key; a `restart` key needs a restart',
    '  ([operations](operations.md#changing-the-configuration)).',
    '',
    'A handler is given as `document` (inline), `file` or `url`; see [Handlers](handlers.md).',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    '| Key | Meaning | Default | Reload |',
    '| --- | --- | --- | --- |',
    ...rowsOf(configSchema, ''),
    '',
    '## Keys that need a restart',
    '',
    '| Key | Reason |',
    '| --- | --- |',
    ...Object.entries(restartKeys).map(([key, reason]) => `| \`${key}\` | ${tableCell(reason)} |`),
    '',
  ].join('\n')
