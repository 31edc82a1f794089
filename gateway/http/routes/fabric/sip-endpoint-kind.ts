import { defaultEndpointCodecs } from '../../../../config/schema/codec-schema.ts'
import type { EndpointDetails, Resource } from '../../../directory/model/resource-types.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import {
  badField,
  codecNamesOf,
  codecs,
  codecsOf,
  optional,
  text,
  withoutEffect,
  withoutUnset,
} from '../shared/field-schemas.ts'
import type { TypeOf } from '../shared/resource-lookup.ts'
import type { ResourceKind } from './resource-kind.ts'

/**
 * Permissions of a calling endpoint: `default` and `block-pstn` reach addresses only, `passthrough` also
 * numbers and SIP URIs, `resource` runs a resource.
 */
export type CallHandler = 'default' | 'passthrough' | 'block-pstn' | 'resource'

/**
 * Default limits, as for endpoints in the configuration file. They limit the cost of a leaked password.
 */
const defaultLimits = { maxCalls: 10, callsPerSecond: 2 } as const

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
  if (typeOf(id) === undefined)
    throw badField('calling_handler_resource_id', 'No callable resource has this id.')
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

/** Properties of the body of a SIP endpoint. */
const endpointProperties = {
  username: { ...text(64), pattern: "^[A-Za-z0-9._~!$&'*+=-]+$" },
  password: { ...text(128), minLength: 8 },
  caller_id: optional(text(128)),
  send_as: optional(text(128)),
  codecs,
  encryption: { type: 'string', enum: ['default', 'required', 'optional'] },
  call_handler: { type: 'string', enum: ['default', 'passthrough', 'block-pstn', 'resource'] },
  calling_handler_resource_id: optional({ type: 'string', format: 'uuid' }),
  ...withoutEffect('ciphers'),
} as const

/** Body of a SIP endpoint. */
export type EndpointBody = ValidatedFields<typeof endpointProperties, 'username' | 'password'>

/** Schema of the body that creates a SIP endpoint. */
export const newEndpointBody = {
  type: 'object',
  required: ['username', 'password'],
  additionalProperties: false,
  properties: endpointProperties,
} as const

/** Schema of the body that changes a SIP endpoint. */
export const endpointChange = { ...newEndpointBody, required: [] } as const

/** Properties of a SIP endpoint in responses. */
const endpointAnswer = {
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
const newEndpoint = (body: EndpointBody, typeOf: TypeOf) => ({
  displayName: body.username,
  password: body.password,
  details: {
    encryption: 'default' as const,
    mayDialOut: false,
    ...defaultLimits,
    ...detailsOf(body, undefined, typeOf),
    username: body.username,
    callerId: body.caller_id ?? body.username,
  },
})

/** Returns the changes of a body. The stored digest includes the user name (RFC 7616 section 3.4.2). */
const changedEndpoint = (
  body: Partial<EndpointBody>,
  { details }: Resource<'sip_endpoint'>,
  typeOf: TypeOf,
) => {
  const renamed = body.username !== undefined && body.username !== details.username
  if (renamed && body.password === undefined)
    throw badField('password', 'A new user name requires the password.')
  return {
    displayName: renamed ? body.username : undefined,
    password: body.password,
    details: detailsOf(body, details, typeOf),
  }
}

/** Returns the fields of an endpoint for responses. */
const endpointFields = ({ details }: Resource<'sip_endpoint'>) => ({
  username: details.username,
  caller_id: details.callerId,
  send_as: details.sendAs ?? null,
  codecs: codecNamesOf(details.codecs ?? defaultEndpointCodecs),
  encryption: details.encryption,
  call_handler: callHandlerOf(details),
  calling_handler_resource_id: details.handler?.kind === 'resource' ? details.handler.resourceId : null,
})

/** SIP endpoints, which register with the gateway. */
export const sipEndpoints = {
  type: 'sip_endpoint',
  path: 'sip_endpoints',
  title: 'SIP endpoint',
  properties: endpointProperties,
  required: ['username', 'password'],
  answer: endpointAnswer,
  create: newEndpoint,
  change: changedEndpoint,
  show: endpointFields,
} satisfies ResourceKind<'sip_endpoint', EndpointBody>
