import type { FlowDetails } from '../../../directory/model/resource-types.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import type { StoredDocument } from '../shared/document-checks.ts'
import { documentBody, documentOf, type ScriptValue, scriptValue } from '../shared/document-checks.ts'
import { badField, text } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

const properties = {
  title: text(),
  flow_data: { type: ['object', 'null'], description: 'Graph of the call flow (docs/flows.md).' },
  relayml: {
    ...scriptValue,
    anyOf: [...scriptValue.anyOf, { type: 'null' }],
    description: 'Script to run instead of a graph.',
  },
  document_version: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
} as const

type Body = ValidatedFields<typeof properties, 'title'>

/** Returns the document of the working copy in a body, or undefined. Throws `invalid_field`. */
const workingDocument = ({ flow_data: flow, relayml: script }: Partial<Body>): StoredDocument | undefined => {
  const hasFlow = isGiven(flow)
  const hasScript = isGiven(script)
  if (hasFlow && hasScript)
    throw badField('relayml', 'A call flow has either flow_data or relayml, not both.')
  if (hasFlow) return { kind: 'flow', document: documentOf(flow as object), attribute: 'flow_data' }
  if (!hasScript) return undefined
  return { kind: 'script', document: documentOf(script as ScriptValue), attribute: 'relayml' }
}

/** Returns the working copy of a body, if any. */
const workingCopy = (body: Partial<Body>): Pick<FlowDetails, 'flow' | 'script'> | undefined => {
  const working = workingDocument(body)
  if (!working) return undefined
  const { kind, document } = working
  return kind === 'flow' ? { flow: document, script: undefined } : { flow: undefined, script: document }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Call flows: their working copies. */
export const callFlows: ResourceKind<'call_flow', Body> = {
  type: 'call_flow',
  path: 'call_flows',
  title: 'call flow',
  properties,
  required: ['title'],
  answer: {
    title: { type: 'string' },
    flow_data: {},
    relayml: {},
    document_version: { type: 'integer' },
    deployed_version: { type: ['integer', 'null'] },
  },
  documents: (body) => {
    const working = workingDocument(body)
    return working ? [working] : []
  },
  create: (body) => ({
    displayName: body.title,
    details: { version: body.document_version ?? 1, ...workingCopy(body) },
  }),
  change: (body) => {
    // Without a given version, a change of the working copy increments it.
    const { title: displayName, document_version: version } = body
    return { displayName, details: { ...workingCopy(body), ...(version !== undefined && { version }) } }
  },
  show: ({ displayName, details }) => ({
    title: displayName,
    flow_data: details.flow === undefined ? null : documentBody(details.flow),
    relayml: details.script === undefined ? null : documentBody(details.script),
    document_version: details.version,
    deployed_version: details.deployedVersion ?? null,
  }),
}
