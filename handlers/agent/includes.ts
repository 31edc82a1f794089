import type { AgentFault, FunctionDefinition, FunctionInclude, Json } from './document-types.ts'
import { Findings, Section } from './section.ts'
import { type FunctionDefaults, maxFunctions, readDefaults, readFunctions } from './swaig.ts'
import { isObject, sizeFault } from './values.ts'

/** Maximum size of a reply. */
const limits = { characters: 1_000_000, values: 50_000, depth: 64 }

/** Returns the body of a request that asks a server for its functions. */
export const includeRequest = (
  { functions, metaData }: FunctionInclude,
  { projectId, spaceId = projectId }: { readonly projectId: string; readonly spaceId?: string },
): Json => ({
  action: 'get_signature',
  functions,
  ...(metaData && { meta_data: metaData }),
  content_type: 'text/swaig',
  content_disposition: 'function signature request',
  version: '2.0',
  project_id: projectId,
  space_id: spaceId,
})

/** Whether an entry has everything that a function needs; others are passed over. */
const isComplete = (section: Section, { webhook }: FunctionDefaults): boolean =>
  section.has('function') &&
  (section.has('description') || section.has('purpose')) &&
  (webhook !== undefined || section.has('web_hook_url') || section.has('data_map'))

/** Functions of another server. */
export interface IncludedFunctions {
  readonly functions: readonly FunctionDefinition[]
  readonly warnings: readonly AgentFault[]
}

/**
 * Reads the reply to an {@link includeRequest}: a list of functions, one function, or `{functions,
 * defaults}`. All functions of the reply count. An incomplete one is passed over. Never throws.
 */
export const readInclude = (value: unknown, include: FunctionInclude): IncludedFunctions => {
  const failed = (message: string): IncludedFunctions => ({
    functions: [],
    warnings: [{ path: '', message }],
  })
  const size = sizeFault(value, limits)
  if (size !== undefined) return failed(size)
  const isSingle = isObject(value) && !Array.isArray(value.functions)
  const items =
    Array.isArray(value) || isSingle ? [value].flat() : isObject(value) ? value.functions : undefined
  if (!Array.isArray(items)) return failed('must be a list of functions')
  const findings = new Findings()
  const reply = new Section(
    { functions: items, defaults: isObject(value) ? value.defaults : undefined },
    '',
    findings,
  )
  const { webhook } = readDefaults(reply.section('defaults'))
  const defaults = { ...(webhook && { webhook }), ...(include.metaData && { metaData: include.metaData }) }
  const sections = reply
    .sections('functions', maxFunctions)
    .filter((section) => isComplete(section, defaults))
  const functions = readFunctions(sections, defaults).map((definition) =>
    definition.webhook || !webhook ? definition : { ...definition, webhook },
  )
  return { functions, warnings: findings.warnings }
}
