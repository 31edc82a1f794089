import { LineCounter, parseDocument } from 'yaml'
import { readConfigText } from '../../../config/config-text.ts'
import { type ConfigFault, ConfigInvalid, keysOfPointer } from '../../../config/faults.ts'
import { readAgent } from '../../../handlers/agent/document.ts'
import { checkDocument } from '../../../handlers/reading/check-document.ts'
import { isJsonObject } from '../../core/json.ts'

type Json = Readonly<Record<string, unknown>>

/** Document of an agent, or a script with agents. */
export interface TestDocument {
  readonly kind: 'agent' | 'script'
  readonly value: Json
}

/** Changes of a document for one caller. */
export interface DocumentChanges {
  /** URL of the functions whose replies the scenario has, by their names. */
  readonly functionsUrl: string
  readonly functions: Iterable<string>
  readonly reportUrl: string
  /** Engine in place of that of the document; undefined: the document's. */
  readonly engine?: string
}

/**
 * Reads the document of an agent, or a script, in YAML or JSON. `functions`: names that it must have.
 * Throws ConfigInvalid with the faults and their lines.
 */
export const readTestDocument = (file: string, functions: Iterable<string>): TestDocument => {
  const text = readConfigText(file)
  const lines = new LineCounter()
  const source = parseDocument(text, { schema: 'core', lineCounter: lines, prettyErrors: false })
  const fault = (pointer: string, message: string, code = 'document-faulty'): ConfigFault => {
    const range = (source.getIn(keysOfPointer(pointer), true) as { range?: readonly number[] } | undefined)
      ?.range
    const { line, col } = lines.linePos(range?.[0] ?? 0)
    const place = { line: Math.max(1, line), column: Math.max(1, col), length: 1 }
    return { severity: 'error', file, ...place, path: pointer, message, code }
  }
  const broken = source.errors[0]
  if (broken) throw new ConfigInvalid([fault('', broken.message)])
  const value: unknown = source.toJS({ maxAliasCount: 1000 })
  if (!isJsonObject(value))
    throw new ConfigInvalid([fault('', 'must be a document of an agent, or a script')])
  const kind = value.sections === undefined ? 'agent' : 'script'
  const found =
    kind === 'agent' ? readAgent(value).faults : checkDocument('script', JSON.stringify(value)).errors
  const faults = found.map(({ path, message }) => fault(path, message))
  const known = new Set(agentsIn(kind, value).flatMap(functionsOf))
  const hasMore = agentsIn(kind, value).some(hasDiscovered)
  for (const name of functions)
    if (!known.has(name) && !hasMore)
      faults.push(
        fault('', `has no function ${name}, for which the scenario has a reply`, 'function-unknown'),
      )
  if (faults.length > 0) throw new ConfigInvalid(faults)
  return { kind, value }
}

/** Returns a document as one caller gets it: with its own report and functions. */
export const changedDocument = ({ kind, value }: TestDocument, changes: DocumentChanges): TestDocument => {
  const names = new Set(changes.functions)
  return {
    kind,
    value: (kind === 'agent'
      ? changedAgent(value, changes, names)
      : changedPart(value, changes, names)) as Json,
  }
}

/** Methods of scripts whose value is an agent. */
const agentMethods = ['ai', 'amazon_bedrock'] as const

const changedPart = (part: unknown, changes: DocumentChanges, names: ReadonlySet<string>): unknown => {
  if (Array.isArray(part)) return part.map((each) => changedPart(each, changes, names))
  if (!isJsonObject(part)) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) =>
      isAgent(key, value)
        ? [key, changedAgent(value, changes, names)]
        : [key, changedPart(value, changes, names)],
    ),
  )
}

const isAgent = (key: string, value: unknown): value is Json =>
  agentMethods.some((method) => method === key) && isJsonObject(value)

const changedAgent = (agent: Json, changes: DocumentChanges, names: ReadonlySet<string>): Json => {
  const { post_prompt_auth_user: _user, post_prompt_auth_password: _password, ...kept } = agent
  const { engine } = changes
  return {
    ...kept,
    post_prompt_url: changes.reportUrl,
    ...(engine !== undefined && { params: { ...(isJsonObject(agent.params) && agent.params), engine } }),
    ...(names.size > 0 && { SWAIG: changedSwaig(agent.SWAIG, changes.functionsUrl, names) }),
  }
}

const changedSwaig = (swaig: unknown, url: string, names: ReadonlySet<string>): unknown => {
  const changed = (functions: readonly unknown[]): readonly unknown[] =>
    functions.map((each) => {
      if (!isJsonObject(each) || !names.has(nameOf(each))) return each
      const { data_map: _map, web_hook_auth_user: _user, web_hook_auth_password: _password, ...kept } = each
      return { ...kept, web_hook_url: url }
    })
  if (Array.isArray(swaig)) return changed(swaig)
  if (!isJsonObject(swaig) || !Array.isArray(swaig.functions)) return swaig
  return { ...swaig, functions: changed(swaig.functions) }
}

const nameOf = (of: Json): string => String(of.function ?? of.name ?? '')

const agentsIn = (kind: TestDocument['kind'], value: unknown): readonly Json[] => {
  if (kind === 'agent') return [value as Json]
  if (Array.isArray(value)) return value.flatMap((each) => agentsIn('script', each))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, part]) =>
    isAgent(key, part) ? [part] : agentsIn('script', part),
  )
}

const functionsOf = ({ SWAIG: swaig }: Json): readonly string[] => {
  const listed = Array.isArray(swaig) ? swaig : isJsonObject(swaig) ? swaig.functions : undefined
  return Array.isArray(listed) ? listed.filter(isJsonObject).map(nameOf) : []
}

/** Whether an agent has functions that only its servers know. */
const hasDiscovered = ({ SWAIG: swaig }: Json): boolean =>
  isJsonObject(swaig) && (swaig.includes !== undefined || swaig.mcp_servers !== undefined)
