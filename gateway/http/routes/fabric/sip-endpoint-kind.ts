import type { EndpointDetails, Resource } from '../../../directory/resource-types.ts'
import {
  badField,
  type CodecWord,
  codecs,
  codecsOf,
  codecWords,
  notCarried,
  optional,
  text,
  withoutUnset,
} from '../shared/field-schemas.ts'
import type { TypeOf } from '../shared/resource-lookup.ts'
import type { ResourceKind } from './resource-kind.ts'

/**
 * Permissions of a calling endpoint: `default` and `block-pstn` reach addresses only, `passthrough` also
 * numbers and SIP URIs, `resource` runs a resource.
 */
export type CallHandler = 'default' | 'passthrough' | 'block-pstn' | 'resource'

/** Body of a SIP endpoint. */
export interface EndpointBody {
  readonly username: string
  readonly password: string
  readonly caller_id?: string | null
  readonly send_as?: string | null
  readonly codecs?: readonly CodecWord[]
  readonly encryption?: EndpointDetails['encryption']
  readonly call_handler?: CallHandler
  readonly calling_handler_resource_id?: string | null
}

/** Default codecs of an endpoint. */
const usualCodecs = ['PCMU', 'PCMA', 'G722', 'opus'] as const

/**
 * Calls at once, and new ones a second: those of an endpoint of the configuration file that says nothing. A
 * password that leaks is to cost little.
 */
const usualLimits = { maxCalls: 10, callsPerSecond: 2 } as const

const handlerOf = (
  body: Partial<EndpointBody>,
  present: EndpointDetails | undefined,
  typeOf: TypeOf,
): Pick<EndpointDetails, 'handler' | 'mayDialOut'> | undefined => {
  const { call_handler: word, calling_handler_resource_id: resourceId } = body
  if (word === undefined && resourceId === undefined) return undefined
  const wanted = word ?? (resourceId ? 'resource' : present ? callHandlerOf(present) : 'default')
  if (wanted !== 'resource') return { mayDialOut: wanted === 'passthrough', handler: undefined }
  const kept = present?.handler?.kind === 'resource' ? present.handler.resourceId : undefined
  const id = resourceId === undefined ? kept : resourceId
  if (!id) throw badField('calling_handler_resource_id', 'call_handler resource needs the id of a resource.')
  const type = typeOf(id)
  if (type === undefined || type === 'ai_agent')
    throw badField('calling_handler_resource_id', 'There is no such resource that can be called.')
  return handledBy(id)
}

/** Fields that set the resource for calls of an endpoint. */
export const handledBy = (resourceId: string): Pick<EndpointDetails, 'handler' | 'mayDialOut'> => ({
  mayDialOut: false,
  handler: { kind: 'resource', resourceId },
})

const callHandlerOf = ({ handler, mayDialOut }: EndpointDetails): CallHandler => {
  if (handler) return 'resource'
  return mayDialOut ? 'passthrough' : 'default'
}

/** The schema of what makes a SIP endpoint. */
export const endpointProperties = {
  username: { ...text(64), pattern: "^[A-Za-z0-9._~!$&'*+=-]+$" },
  password: { ...text(128), minLength: 8 },
  caller_id: optional(text(128)),
  send_as: optional(text(128)),
  codecs,
  encryption: { type: 'string', enum: ['default', 'required', 'optional'] },
  call_handler: { type: 'string', enum: ['default', 'passthrough', 'block-pstn', 'resource'] },
  calling_handler_resource_id: optional({ type: 'string', format: 'uuid' } as const),
  ...notCarried('ciphers'),
}

/** Of answers. */
export const endpointAnswer = {
  username: { type: 'string' },
  caller_id: { type: 'string' },
  send_as: { type: ['string', 'null'] },
  codecs: { type: 'array', items: { type: 'string' } },
  encryption: { type: 'string' },
  call_handler: { type: 'string' },
  calling_handler_resource_id: { type: ['string', 'null'] },
} as const

const detailsOf = (body: Partial<EndpointBody>, present: EndpointDetails | undefined, typeOf: TypeOf) => ({
  ...withoutUnset({
    username: body.username,
    callerId: body.caller_id === null ? (body.username ?? present?.username) : body.caller_id,
    sendAs: body.send_as,
    codecs: body.codecs && codecsOf(body.codecs),
    encryption: body.encryption,
  }),
  ...handlerOf(body, present, typeOf),
})

/**
 * Returns the endpoint of a body. The directory stores only what digest authentication needs of the password.
 */
export const newEndpoint = (body: EndpointBody, typeOf: TypeOf) => ({
  displayName: body.username,
  password: body.password,
  details: {
    encryption: 'default' as const,
    mayDialOut: false,
    ...usualLimits,
    ...detailsOf(body, undefined, typeOf),
    username: body.username,
    callerId: body.caller_id ?? body.username,
  },
})

/** Returns the changes of a body. The stored digest includes the user name (RFC 7616 section 3.4.2). */
export const changedEndpoint = (
  body: Partial<EndpointBody>,
  { details }: Resource<'sip_endpoint'>,
  typeOf: TypeOf,
) => {
  const renamed = body.username !== undefined && body.username !== details.username
  if (renamed && body.password === undefined)
    throw badField('password', 'A new user name needs the password with it.')
  return {
    displayName: renamed ? body.username : undefined,
    password: body.password,
    details: detailsOf(body, details, typeOf),
  }
}

/** An endpoint as answers show it. */
export const shownEndpoint = ({ details }: Resource<'sip_endpoint'>) => ({
  username: details.username,
  caller_id: details.callerId,
  send_as: details.sendAs ?? null,
  codecs: codecWords(details.codecs ?? usualCodecs),
  encryption: details.encryption,
  call_handler: callHandlerOf(details),
  calling_handler_resource_id: details.handler?.kind === 'resource' ? details.handler.resourceId : null,
})

/** Phones that register. */
export const sipEndpoints: ResourceKind<'sip_endpoint', EndpointBody> = {
  type: 'sip_endpoint',
  path: 'sip_endpoints',
  title: 'SIP endpoint',
  properties: endpointProperties,
  required: ['username', 'password'],
  answer: endpointAnswer,
  create: newEndpoint,
  change: changedEndpoint,
  show: shownEndpoint,
}
