import type { HandlerSpec, StatusTarget } from '../../model.ts'
import { parseAddress, pathOf } from '../model/address-path.ts'
import { type AgentSilence, agentScript } from '../model/agent-script.ts'
import type {
  FlowVersion,
  FoundRoom,
  HandlerSource,
  Resource,
  ResourceDetails,
  WebhookDetails,
} from '../model/resource-types.ts'
import type { Contents } from './contents.ts'
import type { Entry } from './entry.ts'

/**
 * Resolves a handler source of the project to its present handler. Returns undefined if the resource or the
 * version of the flow is missing.
 */
export const handlerOf = (
  contents: Pick<Contents, 'byId' | 'silence'>,
  projectId: string,
  source: HandlerSource | undefined,
): HandlerSpec | undefined => {
  if (source?.kind !== 'resource') return source
  const entry = contents.byId(source.resourceId)
  if (entry?.resource.projectId !== projectId) return undefined
  return runOf(entry, source.version ?? 'working_copy', contents.silence)
}

/**
 * Returns the handler of an address; undefined if the address rings a device instead.
 */
export const handlerAt = (entry: Entry, silence: AgentSilence): HandlerSpec | undefined => {
  const { type } = entry.resource
  if (type === 'subscriber' || type === 'sip_endpoint' || type === 'sip_gateway') return undefined
  return runOf(entry, entry.deployed ? 'current_deployed' : 'working_copy', silence)
}

const runOf = (entry: Entry, version: FlowVersion, silence: AgentSilence): HandlerSpec | undefined => {
  const { resource } = entry
  const name = pathOf(resource.address)
  switch (resource.type) {
    case 'swml_script':
      return storedHandler('script', name, resource.details)
    case 'cxml_script':
      return storedHandler('xml', name, resource.details)
    case 'swml_webhook':
      return requestedHandler('script', resource.details)
    case 'cxml_webhook':
      return requestedHandler('xml', resource.details)
    case 'call_flow':
      return flowHandler(entry, resource, version)
    case 'relay_application': {
      const { topic, statusCallbackUrl } = resource.details
      return { kind: 'realtime', topic, ...statusOf('json', statusCallbackUrl) }
    }
    case 'room':
      return script(name, { join_room: { name } })
    case 'sip_gateway':
    case 'subscriber':
    case 'sip_endpoint':
      return script(name, { connect: { to: name, answer_on_bridge: true } })
    case 'ai_agent': {
      const { settings, declaredAt } = resource.details
      return { kind: 'script', document: agentScript(settings, silence), name: declaredAt ?? name }
    }
  }
}

const storedHandler = (
  kind: 'script' | 'xml',
  address: string,
  { document, declaredAt, statusCallbackUrl }: ResourceDetails['swml_script'],
): HandlerSpec => ({
  kind,
  document,
  name: declaredAt ?? address,
  ...statusOf(dialectOf(kind), statusCallbackUrl),
})

const requestedHandler = (kind: 'script' | 'xml', details: WebhookDetails): HandlerSpec => {
  const { url, method, fallbackUrl, fallbackMethod, statusCallbackUrl, statusCallbackMethod } = details
  return {
    kind,
    url,
    method,
    ...(fallbackUrl !== undefined && { fallbackUrl, ...(fallbackMethod && { fallbackMethod }) }),
    ...statusOf(dialectOf(kind), statusCallbackUrl, statusCallbackMethod),
  }
}

const flowHandler = (
  { deployed }: Entry,
  { details, address, managedByFile }: Resource<'call_flow'>,
  version: FlowVersion,
): HandlerSpec | undefined => {
  const { url, fallbackUrl, method, declaredAt } = details
  if (url !== undefined)
    return { kind: 'flow', url, ...(fallbackUrl !== undefined && { fallbackUrl }), ...(method && { method }) }
  // A flow in the configuration file has no versions; its text counts as deployed.
  const text = version === 'working_copy' || managedByFile ? details : deployed
  const name = declaredAt ?? pathOf(address)
  if (text?.script !== undefined) return { kind: 'script', document: text.script, name }
  return text?.flow === undefined ? undefined : { kind: 'flow', document: text.flow, name }
}

/** See `Directory.room`. */
export const roomOf = (contents: Pick<Contents, 'byAddress'>, projectId: string, name: string): FoundRoom => {
  const address = parseAddress(name) ?? { context: 'public', name }
  const resource = contents.byAddress(projectId, address)?.resource
  return { address: pathOf(address), ...(resource?.type === 'room' && { resource }) }
}

const script = (name: string, instruction: object): HandlerSpec => ({
  kind: 'script',
  document: JSON.stringify({ version: '1.0.0', sections: { main: [instruction] } }),
  name,
})

/** Returns the dialect of a handler's callbacks: forms for XML documents, JSON for the others. */
export const dialectOf = (kind: HandlerSpec['kind']): StatusTarget['dialect'] =>
  kind === 'xml' ? 'form' : 'json'

/** Returns the status target; by default, only the end of a call is reported, in both dialects. */
export const statusOf = (
  dialect: StatusTarget['dialect'],
  url: string | undefined,
  method: StatusTarget['method'] = 'POST',
): { readonly status?: StatusTarget } =>
  url === undefined ? {} : { status: { url, method, states: ['completed'], dialect } }
