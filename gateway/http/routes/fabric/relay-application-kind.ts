import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { httpUrl, optional, text, withoutUnset } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

const properties = { name: text(), topic: text(), call_status_callback_url: optional(httpUrl) } as const

type Body = ValidatedFields<typeof properties, 'name' | 'topic'>

/** Realtime applications, by the topic that they listen on. */
export const relayApplications: ResourceKind<'relay_application', Body> = {
  type: 'relay_application',
  path: 'relay_applications',
  title: 'realtime application',
  properties,
  required: ['name', 'topic'],
  answer: {
    name: { type: 'string' },
    topic: { type: 'string' },
    call_status_callback_url: { type: ['string', 'null'] },
  },
  create: ({ name, topic, call_status_callback_url: url }) => ({
    displayName: name,
    details: { topic, ...withoutUnset({ statusCallbackUrl: url }) },
  }),
  change: ({ name, topic, call_status_callback_url: url }) => ({
    displayName: name,
    details: withoutUnset({ topic, statusCallbackUrl: url }),
  }),
  show: ({ displayName, details }) => ({
    name: displayName,
    topic: details.topic,
    call_status_callback_url: details.statusCallbackUrl ?? null,
  }),
}
