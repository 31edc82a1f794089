import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { codecNamesOf, codecs, codecsOf, text, withoutEffect, withoutUnset } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

const properties = {
  name: text(),
  uri: {
    ...text(512),
    pattern: '^[sS][iI][pP][sS]?:[^\\s<>"@\\u0000-\\u001f\\u007f]+(@[^\\s<>"@\\u0000-\\u001f\\u007f]+)?$',
  },
  encryption: { type: 'string', enum: ['required', 'optional', 'forbidden'] },
  codecs,
  ...withoutEffect('ciphers'),
} as const

type Body = ValidatedFields<typeof properties, 'name' | 'uri'>

const detailsOf = (body: Partial<Body>) =>
  withoutUnset({ uri: body.uri, encryption: body.encryption, codecs: body.codecs && codecsOf(body.codecs) })

/** SIP URIs outside the gateway. */
export const sipGateways: ResourceKind<'sip_gateway', Body> = {
  type: 'sip_gateway',
  path: 'sip_gateways',
  title: 'SIP gateway',
  properties,
  required: ['name', 'uri'],
  answer: {
    name: { type: 'string' },
    uri: { type: 'string' },
    encryption: { type: 'string' },
    codecs: { type: 'array', items: { type: 'string' } },
  },
  create: (body) => ({
    displayName: body.name,
    details: { encryption: 'optional', ...detailsOf(body), uri: body.uri },
  }),
  change: (body) => ({ displayName: body.name, details: detailsOf(body) }),
  show: ({ displayName, details }) => ({
    name: displayName,
    uri: details.uri,
    encryption: details.encryption,
    codecs: codecNamesOf(details.codecs ?? ['PCMU', 'PCMA']),
  }),
}
