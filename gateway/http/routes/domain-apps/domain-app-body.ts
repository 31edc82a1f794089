import { parseNetwork } from '../../../../config/networks.ts'
import { srtpSuites } from '../../../../config/srtp-suites.ts'
import type { DomainAppRecord, Resources } from '../../../directory/model/ports.ts'
import type { Validated } from '../../requests/typed-routes.ts'
import {
  badField,
  codecNamesOf,
  codecs,
  codecsOf,
  text,
  timeText,
  withoutUndefined,
} from '../shared/field-schemas.ts'
import { handlerFields, handlerProperties } from './handler-fields.ts'

/** Suites whose name in this API differs from that in SDP. */
const otherSuites: Readonly<Record<string, string>> = { AEAD_AES_256_GCM_8: 'AEAD_AES_256_GCM' }

const properties = {
  name: text(),
  identifier: { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9-]{0,40}[A-Za-z0-9])?$' },
  user: { ...text(64), pattern: "^(\\*|[A-Za-z0-9._~!$&'()+,;=%-]+)$" },
  ip_auth_enabled: { type: 'boolean' },
  ip_auth: { type: 'array', maxItems: 1000, items: text(64) },
  encryption: { type: 'string', enum: ['optional', 'required', 'forbidden'] },
  codecs: { ...codecs, type: ['array', 'null'] },
  ciphers: {
    type: ['array', 'null'],
    minItems: 1,
    uniqueItems: true,
    items: { type: 'string', enum: [...srtpSuites, ...Object.keys(otherSuites)] as string[] },
  },
  ...handlerProperties,
} as const

/** Schema of the body that creates a domain application. */
export const newDomainApp = {
  type: 'object',
  required: ['name', 'identifier'],
  additionalProperties: false,
  properties,
} as const

/** Schema of the body that changes a domain application; null removes a value. */
export const domainAppChange = { ...newDomainApp, required: [] } as const

const textOrNull = { type: ['string', 'null'] } as const
const textList = { type: 'array', items: { type: 'string' } } as const

/** Schema of responses. */
export const domainAppSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    type: { type: 'string', enum: ['domain_application'] },
    name: { type: 'string' },
    identifier: textOrNull,
    domain: { type: 'string' },
    user: { type: 'string' },
    ip_auth_enabled: { type: 'boolean' },
    ip_auth: textList,
    encryption: { type: 'string' },
    codecs: textList,
    ciphers: textList,
    ...Object.fromEntries(Object.keys(handlerProperties).map((name) => [name, textOrNull])),
    managed_by: { type: 'string', enum: ['file', 'api'] },
    created_at: { type: 'string', format: 'date-time' },
    updated_at: { type: 'string', format: 'date-time' },
  },
} as const

/** Returns a domain application for responses. */
export const domainAppBody = (app: DomainAppRecord, resources: Pick<Resources, 'find'>) => ({
  id: app.id,
  type: 'domain_application',
  name: app.name,
  identifier: app.identifier ?? null,
  domain: app.domain,
  user: app.user,
  ip_auth_enabled: app.ipAuthEnabled,
  ip_auth: app.ipAuth,
  encryption: app.encryption,
  codecs: codecNamesOf(app.codecs ?? ['PCMU', 'PCMA']),
  ciphers: app.ciphers ?? srtpSuites,
  ...handlerFields(app, resources),
  managed_by: app.managedByFile ? 'file' : 'api',
  created_at: timeText(app.createdAt),
  updated_at: timeText(app.updatedAt),
})

/** Returns the fields of a body other than the handler; null removes a value. Throws `invalid_field`. */
export const ownFields = (body: Validated<typeof domainAppChange>) =>
  withoutUndefined({
    name: body.name,
    identifier: body.identifier?.toLowerCase(),
    user: body.user,
    ipAuthEnabled: body.ip_auth_enabled,
    ipAuth: body.ip_auth?.map(network),
    encryption: body.encryption,
    codecs: body.codecs && codecsOf(body.codecs),
    ciphers: body.ciphers && [...new Set(body.ciphers.map((name) => otherSuites[name] ?? name))],
  })

/** Reads an address or a network. Throws `invalid_field`. */
const network = (given: string): string => {
  const read = parseNetwork(given)
  if (!read) throw badField('ip_auth', `${given} is not an IP address or a network such as 192.0.2.0/24.`)
  return `${read.address}/${read.prefix}`
}
