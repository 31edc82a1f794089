import type { Schema } from '../script/schema-builders.ts'
import { kinds } from './kinds.ts'
import type { NodeKind } from './node.ts'

/** Pattern of the names of nodes and outcomes. */
export const namePattern = '^[A-Za-z0-9_-]{1,64}$'

/** Maximum number of nodes of a flow. */
export const maxNodes = 500

/** Returns the schema of a kind's options. */
export const optionsSchema = ({ description, properties, required = [] }: NodeKind): Schema => ({
  title: 'an object of options',
  description,
  type: 'object',
  properties,
  required: [...required],
  additionalProperties: false,
})

const position: Schema = {
  description: 'Position in a drawing; no effect on the call.',
  type: 'object',
  properties: { x: { type: 'number' }, y: { type: 'number' } },
  required: ['x', 'y'],
  additionalProperties: false,
}

const edgesDescription = ({ outcomes, named }: NodeKind): string => {
  const all = [...outcomes, ...(named ? ['and those that its options define'] : [])].join(', ')
  const list = outcomes.length > 0 ? ` (${all})` : ''
  return `The node that each outcome leads to${list}. An outcome without an edge ends the call.`
}

const edgesSchema = (kind: NodeKind): Schema => ({
  description: edgesDescription(kind),
  title: kind.description,
  type: 'object',
  ...(kind.named
    ? { propertyNames: { pattern: namePattern }, additionalProperties: { type: 'string' } }
    : {
        properties: Object.fromEntries(kind.outcomes.map((name) => [name, { type: 'string' }])),
        additionalProperties: false,
      }),
})

const nodeSchema = ([name, kind]: [string, NodeKind]): Schema => ({
  type: 'object',
  properties: {
    kind: { const: name },
    label: { description: 'Display name of the node.', type: 'string' },
    options: optionsSchema(kind),
    edges: edgesSchema(kind),
    position,
  },
  required: ['kind', ...(kind.required?.length ? ['options'] : [])],
  additionalProperties: false,
})

/** JSON Schema of call flows, for editors and documentation. The document reader checks further rules. */
export const flowSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A call flow',
  type: 'object',
  properties: {
    version: { const: '1.0.0' },
    nodes: {
      description: 'Nodes by id. Exactly one is of the kind start.',
      type: 'object',
      minProperties: 1,
      maxProperties: maxNodes,
      propertyNames: { pattern: namePattern },
      additionalProperties: { oneOf: Object.entries(kinds).map(nodeSchema) },
    },
  },
  required: ['nodes'],
  additionalProperties: false,
}
