import { createHash } from 'node:crypto'
import { absentFunction } from '../common/placeholders.ts'
import type { FunctionDefinition, FunctionInclude, Json, McpServer, WebhookTarget } from './document-types.ts'
import { hookFunctions, reservedFunctions } from './function-names.ts'
import { nativeNames } from './native-functions.ts'
import { Section } from './section.ts'
import { type CredentialKeys, readTarget, requestHeaders } from './targets.ts'
import { booleanOf, isObject, numberOf, textOf } from './values.ts'

/** Maximum number of functions of one document or include. */
export const maxFunctions = 256

/** Maximum number of includes, native functions and MCP servers. */
const maxIncludes = 64
const maxNativeFunctions = 64
const maxMcpServers = 16

const webhookKeys: CredentialKeys = {
  user: ['web_hook_auth_user', 'auth_user', 'user'],
  password: [
    'web_hook_auth_password',
    'web_hook_auth_pass',
    'auth_password',
    'auth_pass',
    'pass',
    'password',
  ],
}

/** Defaults of functions that come from the same place. */
export interface FunctionDefaults {
  readonly webhook?: WebhookTarget
  /** Default of `wait_for_fillers`. */
  readonly waitForFillers?: boolean
  /** Default of `meta_data`. */
  readonly metaData?: Json
}

/** Name that every engine accepts. */
const functionName = /^[A-Za-z0-9_-]{1,64}$/

const noParameters: Json = { type: 'object', properties: {} }

/**
 * Returns the JSON Schema of a function's arguments. A bare object of properties is completed. A text is the
 * description of one argument.
 */
const parametersOf = (section: Section): Json => {
  const value = section.get('parameters') ?? section.get('argument')
  if (value === undefined) return noParameters
  if (typeof value === 'string')
    return { type: 'object', properties: { argument: { type: 'string', description: value } } }
  if (!isObject(value)) {
    section.warn('parameters', 'must be a JSON Schema')
    return noParameters
  }
  if (isObject(value.properties)) return typeof value.type === 'string' ? value : { ...value, type: 'object' }
  if (typeof value.type === 'string') return { ...value, type: 'object', properties: {} }
  return { type: 'object', properties: onlyObjects(value) }
}

const onlyObjects = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, schema]) => isObject(schema)))

/** Maximum number of uses of a function that its document limits. */
const maxUses = 1_000_000

/** Reads a state of a function: a truth also as text, `endless`, or a number of uses. Undefined otherwise. */
export const activeOf = (value: unknown): boolean | number | undefined => {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  if (word === 'endless') return true
  const number = numberOf(value)
  if (number !== undefined) return number <= 0 ? false : Math.min(Math.ceil(number), maxUses)
  return booleanOf(value)
}

const readActive = (section: Section): boolean | number => {
  const value = section.get('active')
  const active = value === undefined ? true : activeOf(value)
  if (active === undefined) section.warn('active', 'must be true, false or a number of uses')
  return active ?? true
}

/** Number of times that a sound is played if nothing limits it: for as long as the function runs. */
const endlessLoops = 10_000

const readWaitSound = (section: Section): FunctionDefinition['waitSound'] => {
  const url = section.text('wait_file')
  const isEndless = !section.has('wait_file_loops') || textOf(section.get('wait_file_loops')) === 'endless'
  const loops = isEndless ? endlessLoops : (section.number('wait_file_loops', [1, endlessLoops]) ?? 1)
  return url === undefined ? undefined : { url, loops: Math.round(loops) }
}

/** Returns the token of functions that share their meta data, if the document gives none. */
const tokenOf = (name: string, webhook: WebhookTarget | undefined): string =>
  createHash('sha256')
    .update(webhook ? `url ${webhook.url}` : `name ${name}`)
    .digest('hex')
    .slice(0, 32)

const readName = (section: Section): string | undefined => {
  const name = section.text('function', 'name')?.trim()
  if (name === undefined)
    section.findings.warn(section.path, 'must have the name of a function; it is left out')
  else if (reservedFunctions.has(name))
    section.warn('function', `is ${name}, a function of the gateway; it is left out`)
  else if (!functionName.test(name))
    section.warn('function', 'must be a name of at most 64 letters, digits, _ and -; it is left out')
  else return name
  return undefined
}

const readDataMap = (section: Section): Json | undefined => {
  const map = section.object('data_map')
  const absent = map && absentFunction(JSON.stringify(map))
  if (absent !== undefined)
    section.warn('data_map', `contains the function @{${absent}}, which has no effect`)
  return map
}

/**
 * Reads one function. Undefined, with a warning, if it has no usable name. Other functions than hooks need a
 * description; the name stands for it.
 */
export const readFunction = (
  section: Section,
  defaults: FunctionDefaults,
): FunctionDefinition | undefined => {
  const name = readName(section)
  if (name === undefined) return undefined
  const webhook = readTarget(section, 'web_hook_url', webhookKeys)
  const dataMap = readDataMap(section)
  const fillers = section.phrases('fillers')
  const waitSound = readWaitSound(section)
  const description = section.text('description', 'purpose')
  if (description === undefined && !hookFunctions.has(name)) section.warn('description', 'must be a text')
  const definition = {
    name,
    description: description ?? name,
    parameters: parametersOf(section),
    active: readActive(section),
    ...(webhook && { webhook }),
    ...(dataMap && { dataMap }),
    ...(fillers && { fillers }),
    ...(waitSound && { waitSound }),
    waitForFillers: section.boolean('wait_for_fillers') ?? defaults.waitForFillers ?? false,
    skipFillers: section.boolean('skip_fillers') ?? false,
    metaData: section.object('meta_data') ?? defaults.metaData ?? {},
    metaDataToken: section.text('meta_data_token') ?? tokenOf(name, webhook ?? defaults.webhook),
  }
  section.warnUnknown()
  return definition
}

/** Reads functions. Of several with the same name the first one counts. */
export const readFunctions = (
  sections: readonly Section[],
  defaults: FunctionDefaults,
): readonly FunctionDefinition[] => {
  const functions = new Map<string, FunctionDefinition>()
  for (const section of sections) {
    const definition = readFunction(section, defaults)
    if (!definition) continue
    if (functions.has(definition.name))
      section.warn('function', 'is the name of an earlier function; it is left out')
    else functions.set(definition.name, definition)
  }
  return [...functions.values()]
}

/** Reads `defaults` of functions: the webhook of those that have none. */
export const readDefaults = (section: Section | undefined): FunctionDefaults => {
  const webhook = section && readTarget(section, 'web_hook_url', webhookKeys)
  return webhook ? { webhook } : {}
}

const readInclude = (section: Section): readonly FunctionInclude[] => {
  const target = readTarget(section, 'url', webhookKeys)
  const functions = section.texts('functions', maxFunctions) ?? []
  const metaData = section.object('meta_data')
  if (target) return [{ target, functions, ...(metaData && { metaData }) }]
  if (!section.has('url')) section.findings.warn(section.path, 'must have a url; it is left out')
  return []
}

const readMcpServer = (section: Section): readonly McpServer[] => {
  const target = readTarget(section, 'url', webhookKeys)
  const headers = requestHeaders(section.object('headers') ?? {})
  const resources = section.boolean('resources') ?? false
  const resourceVars = section.object('resource_vars') ?? {}
  if (target) return [{ url: target.url, headers, resources, resourceVars }]
  if (!section.has('url')) section.findings.warn(section.path, 'must have a url; it is left out')
  return []
}

const readNativeFunctions = (section: Section): readonly string[] => {
  const names = section.texts('native_functions', maxNativeFunctions) ?? []
  const unknown = names.filter((name) => !nativeNames.has(name))
  for (const name of new Set(unknown))
    section.warn('native_functions', `contains ${name.slice(0, 64)}, which the gateway does not have`)
  return [...new Set(names.filter((name) => nativeNames.has(name)))]
}

const readInternalFillers = (section: Section): Swaig['internalFillers'] => {
  const fillers = section.section('internal_fillers')
  if (!fillers) return {}
  const names = Object.keys(fillers.value).slice(0, maxNativeFunctions)
  return Object.fromEntries(names.map((name) => [name, fillers.phrases(name) ?? {}]))
}

/** Functions of a document, and where more of them come from. */
export interface Swaig {
  readonly functions: readonly FunctionDefinition[]
  readonly defaultWebhook?: WebhookTarget
  readonly includes: readonly FunctionInclude[]
  readonly nativeFunctions: readonly string[]
  readonly internalFillers: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  readonly mcpServers: readonly McpServer[]
}

/**
 * Reads `SWAIG`: an object, or a list of functions. `waitForFillers` is the default of the functions.
 */
export const readSwaig = (document: Section, waitForFillers: boolean): Swaig => {
  const value = document.get('SWAIG')
  const content = Array.isArray(value) ? { functions: value } : (document.object('SWAIG') ?? {})
  const section = new Section(content, document.at('SWAIG'), document.findings)
  const { webhook } = readDefaults(section.section('defaults'))
  const functions = readFunctions(section.sections('functions', maxFunctions), {
    waitForFillers,
    ...(webhook && { webhook }),
  })
  const swaig = {
    functions,
    ...(webhook && { defaultWebhook: webhook }),
    includes: section.sections('includes', maxIncludes).flatMap(readInclude),
    nativeFunctions: readNativeFunctions(section),
    internalFillers: readInternalFillers(section),
    mcpServers: section.sections('mcp_servers', maxMcpServers).flatMap(readMcpServer),
  }
  section.warnUnknown()
  return swaig
}
