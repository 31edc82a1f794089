import type { DomainAppRecord, Resources } from '../../../directory/model/ports.ts'
import type { HandlerSource, ResourceType } from '../../../directory/model/resource-types.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { httpMethod, httpUrl, optional, text } from '../shared/field-schemas.ts'

/** Names of handlers in the API. The last three are only assigned by the id of a resource. */
export const callHandlers = [
  'laml_webhooks',
  'relay_script',
  'call_flow',
  'relay_topic',
  'relay_context',
  'relay_application',
  'laml_application',
  'video_room',
  'ai_agent',
  'fabric_subscriber',
  'sip_endpoint',
  'sip_gateway',
] as const

/** One of {@link callHandlers}. */
export type CallHandler = (typeof callHandlers)[number]

const id = { type: 'string', format: 'uuid' } as const
const label = text(256)

/** Schemas of the fields of a domain application that set the handler of its calls. */
export const handlerProperties = {
  call_handler: { type: ['string', 'null'], enum: [...callHandlers, null] },
  calling_handler_resource_id: optional(id),
  call_request_url: optional(httpUrl),
  call_request_method: httpMethod,
  call_fallback_url: optional(httpUrl),
  call_fallback_method: httpMethod,
  call_status_callback_url: optional(httpUrl),
  call_status_callback_method: httpMethod,
  call_relay_script_url: optional(httpUrl),
  call_flow_id: optional(id),
  call_flow_version: { type: 'string', enum: ['working_copy', 'current_deployed'] },
  call_relay_topic: optional(label),
  call_relay_topic_status_callback_url: optional(httpUrl),
  call_relay_context: optional(label),
  call_relay_context_status_callback_url: optional(httpUrl),
  call_relay_application: optional(id),
  call_laml_application_id: optional(id),
  call_video_room_id: optional(id),
  call_ai_agent_id: optional(id),
} as const

/** Fields of a domain application that set the handler of its calls. */
export type HandlerFields = Required<ValidatedFields<typeof handlerProperties>>

/** Fields of an application without a handler. */
const noHandler: HandlerFields = {
  call_handler: null,
  calling_handler_resource_id: null,
  call_request_url: null,
  call_request_method: 'POST',
  call_fallback_url: null,
  call_fallback_method: 'POST',
  call_status_callback_url: null,
  call_status_callback_method: 'POST',
  call_relay_script_url: null,
  call_flow_id: null,
  call_flow_version: 'working_copy',
  call_relay_topic: null,
  call_relay_topic_status_callback_url: null,
  call_relay_context: null,
  call_relay_context_status_callback_url: null,
  call_relay_application: null,
  call_laml_application_id: null,
  call_video_room_id: null,
  call_ai_agent_id: null,
}

/** Names of {@link HandlerFields}. */
export const handlerFieldNames = Object.keys(handlerProperties) as (keyof HandlerFields)[]

type Stored = Pick<DomainAppRecord, 'handler' | 'statusCallback' | 'projectId'>

/** Returns the fields for the handler of an application. Of a removed resource, only the id is shown. */
export const handlerFields = (
  { handler, statusCallback, projectId }: Stored,
  resources: Pick<Resources, 'find'>,
): HandlerFields => {
  const status = {
    call_status_callback_url: statusCallback?.url ?? null,
    call_status_callback_method: statusCallback?.method ?? 'POST',
  }
  if (!handler) return { ...noHandler, ...status }
  if (handler.kind === 'resource')
    return {
      ...noHandler,
      ...status,
      ...resourceFields(handler, resources.find(projectId, undefined, handler.resourceId)?.type),
    }
  if (handler.kind === 'realtime')
    return { ...noHandler, ...status, ...topicFields(handler.topic, statusCallback?.url) }
  return { ...noHandler, ...status, ...documentFields(handler) }
}

const topicFields = (topic: string, url: string | undefined): Partial<HandlerFields> => ({
  call_handler: 'relay_topic',
  call_relay_topic: topic,
  call_relay_topic_status_callback_url: url ?? null,
  call_relay_context: topic,
  call_relay_context_status_callback_url: url ?? null,
})

/** Documents of the configuration file have no URL. */
const documentFields = (
  handler: Extract<HandlerSource, { kind: 'xml' | 'script' | 'flow' }>,
): Partial<HandlerFields> => {
  const url = 'url' in handler ? handler.url : null
  if (handler.kind === 'script') return { call_handler: 'relay_script', call_relay_script_url: url }
  if (handler.kind === 'flow') return { call_handler: 'call_flow' }
  const method = 'url' in handler ? (handler.method ?? 'POST') : 'POST'
  return {
    call_handler: 'laml_webhooks',
    call_request_url: url,
    call_request_method: method,
    call_fallback_url: 'url' in handler ? (handler.fallbackUrl ?? null) : null,
    call_fallback_method: 'url' in handler ? (handler.fallbackMethod ?? method) : method,
  }
}

type TargetField =
  | 'call_flow_id'
  | 'call_relay_application'
  | 'call_video_room_id'
  | 'call_laml_application_id'
  | 'call_ai_agent_id'

/** Handler name of each kind of resource, and the field with its id besides `calling_handler_resource_id`. */
export const handlerByType: Readonly<
  Record<ResourceType, { readonly handler: CallHandler; readonly field?: TargetField }>
> = {
  call_flow: { handler: 'call_flow', field: 'call_flow_id' },
  relay_application: { handler: 'relay_application', field: 'call_relay_application' },
  room: { handler: 'video_room', field: 'call_video_room_id' },
  cxml_script: { handler: 'laml_application', field: 'call_laml_application_id' },
  cxml_webhook: { handler: 'laml_application', field: 'call_laml_application_id' },
  swml_script: { handler: 'relay_script' },
  swml_webhook: { handler: 'relay_script' },
  subscriber: { handler: 'fabric_subscriber' },
  sip_endpoint: { handler: 'sip_endpoint' },
  sip_gateway: { handler: 'sip_gateway' },
  ai_agent: { handler: 'ai_agent', field: 'call_ai_agent_id' },
}

const resourceFields = (
  { resourceId, version }: Extract<HandlerSource, { kind: 'resource' }>,
  type: ResourceType | undefined,
): Partial<HandlerFields> => {
  const id = { calling_handler_resource_id: resourceId }
  if (type === undefined) return id
  const { handler, field } = handlerByType[type]
  return {
    ...id,
    call_handler: handler,
    ...(field && { [field]: resourceId }),
    ...(type === 'call_flow' && { call_flow_version: version ?? 'working_copy' }),
  }
}
