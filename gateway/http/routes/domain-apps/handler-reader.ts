import type { DomainAppRecord } from '../../../directory/model/ports.ts'
import type { FlowVersion, HandlerSource, ResourceType } from '../../../directory/model/resource-types.ts'
import { badField } from '../shared/field-schemas.ts'
import type { TypeOf } from '../shared/resource-lookup.ts'
import { type CallHandler, type HandlerFields, handlerByType, handlerFieldNames } from './handler-fields.ts'

type Given = Partial<HandlerFields>

/**
 * Returns the handler and status callback that a body sets, merged with the present ones; undefined if the
 * body sets neither. Throws `invalid_field`.
 */
export const readHandler = (
  given: Given,
  present: HandlerFields | undefined,
  typeOf: TypeOf,
):
  | { handler: HandlerSource | null; statusCallback: DomainAppRecord['statusCallback'] | null }
  | undefined => {
  if (!handlerFieldNames.some((name) => given[name] !== undefined)) return undefined
  const wanted = merged(given, present)
  const word = wanted.call_handler ?? handlerOfId(wanted, typeOf)
  const handler = word === undefined ? null : readers[word](wanted, typeOf)
  return { handler, statusCallback: statusCallbackOf(given, wanted, word) }
}

/** Merges a body with the present fields. A new handler or resource clears the former target. */
const merged = (given: Given, present: HandlerFields | undefined): Given => {
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given
  if (!present) return named
  const other = isOther(named.call_handler, present.call_handler)
  if (!other && !isOther(named.calling_handler_resource_id, present.calling_handler_resource_id))
    return { ...present, ...named }
  const { call_status_callback_url, call_status_callback_method } = present
  return { call_status_callback_url, call_status_callback_method, ...named }
}

const isOther = (given: string | null | undefined, present: string | null): boolean =>
  given !== undefined && given !== present

const handlerOfId = (wanted: Given, typeOf: TypeOf): CallHandler | undefined => {
  const id = wanted.calling_handler_resource_id
  if (id) return handlerByType[existing('calling_handler_resource_id', id, typeOf)].handler
  const target = targets.find((name) => wanted[name])
  if (target) throw badField('call_handler', `It is required with ${target}.`)
  return undefined
}

const targets = [
  'call_request_url',
  'call_relay_script_url',
  'call_flow_id',
  'call_relay_topic',
  'call_relay_context',
  'call_relay_application',
  'call_laml_application_id',
  'call_video_room_id',
  'call_ai_agent_id',
] as const

const existing = (field: keyof HandlerFields, id: string, typeOf: TypeOf): ResourceType => {
  const type = typeOf(id)
  if (type === undefined) throw badField(field, 'The resource does not exist.')
  return type
}

/** Reads the id of a resource from the field for its type, or from `calling_handler_resource_id`. */
const resource =
  (types: readonly ResourceType[], field: keyof HandlerFields = 'calling_handler_resource_id') =>
  (wanted: Given, typeOf: TypeOf): HandlerSource => {
    const id = wanted[field] ?? wanted.calling_handler_resource_id
    if (!id) throw badField(field, 'It is missing.')
    if (!types.includes(existing(field, id, typeOf)))
      throw badField(field, `It must be the id of a ${types.join(' or ')}.`)
    return { kind: 'resource', resourceId: id, ...versionOf(types, wanted) }
  }

const versionOf = (types: readonly ResourceType[], wanted: Given): { version?: FlowVersion } =>
  types.includes('call_flow') ? { version: wanted.call_flow_version ?? 'working_copy' } : {}

const present = (wanted: Given, field: 'call_request_url' | 'call_relay_script_url'): string => {
  const value = wanted[field]
  if (!value) throw badField(field, 'It is missing.')
  return value
}

const topic =
  (first: 'call_relay_topic' | 'call_relay_context', second: 'call_relay_topic' | 'call_relay_context') =>
  (wanted: Given): HandlerSource => {
    const label = wanted[first] ?? wanted[second]
    if (!label) throw badField(first, 'It is missing.')
    return { kind: 'realtime', topic: label }
  }

const readers: Readonly<Record<CallHandler, (wanted: Given, typeOf: TypeOf) => HandlerSource>> = {
  laml_webhooks: (wanted) => ({
    kind: 'xml',
    url: present(wanted, 'call_request_url'),
    method: wanted.call_request_method ?? 'POST',
    ...(wanted.call_fallback_url && {
      fallbackUrl: wanted.call_fallback_url,
      fallbackMethod: wanted.call_fallback_method ?? 'POST',
    }),
  }),
  relay_script: (wanted, typeOf) =>
    wanted.calling_handler_resource_id && !wanted.call_relay_script_url
      ? resource(['swml_script', 'swml_webhook'])(wanted, typeOf)
      : { kind: 'script', url: present(wanted, 'call_relay_script_url') },
  relay_topic: topic('call_relay_topic', 'call_relay_context'),
  relay_context: topic('call_relay_context', 'call_relay_topic'),
  call_flow: resource(['call_flow'], 'call_flow_id'),
  relay_application: resource(['relay_application'], 'call_relay_application'),
  laml_application: resource(['cxml_script', 'cxml_webhook'], 'call_laml_application_id'),
  video_room: resource(['room'], 'call_video_room_id'),
  fabric_subscriber: resource(['subscriber']),
  sip_endpoint: resource(['sip_endpoint']),
  sip_gateway: resource(['sip_gateway']),
  ai_agent: resource(['ai_agent'], 'call_ai_agent_id'),
}

/** Returns the status callback of a body. The fields of topics take precedence over the common one. */
const statusCallbackOf = (
  given: Given,
  wanted: Given,
  word: CallHandler | undefined,
): DomainAppRecord['statusCallback'] | null => {
  const {
    call_relay_topic_status_callback_url: topicUrl,
    call_relay_context_status_callback_url: contextUrl,
  } = given
  const own = topicUrl === undefined ? contextUrl : topicUrl
  if ((word === 'relay_topic' || word === 'relay_context') && own !== undefined)
    return own === null ? null : { url: own, method: 'POST' }
  const { call_status_callback_url: url, call_status_callback_method: method = 'POST' } = wanted
  return url ? { url, method } : null
}
