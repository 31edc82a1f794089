import { httpUrl, optional, said, text } from './fields.ts'
import type { Kind } from './kind.ts'

interface Body {
  readonly name: string
  readonly topic: string
  readonly call_status_callback_url?: string | null
}

/** Realtime applications, by the topic that they listen on. */
export const relayApplications: Kind<'relay_application', Body> = {
  type: 'relay_application',
  path: 'relay_applications',
  title: 'realtime application',
  properties: { name: text(), topic: text(), call_status_callback_url: optional(httpUrl) },
  required: ['name', 'topic'],
  answer: {
    name: { type: 'string' },
    topic: { type: 'string' },
    call_status_callback_url: { type: ['string', 'null'] },
  },
  create: ({ name, topic, call_status_callback_url: url }) => ({
    displayName: name,
    details: { topic, ...said({ statusCallbackUrl: url }) },
  }),
  change: ({ name, topic, call_status_callback_url: url }) => ({
    displayName: name,
    details: said({ topic, statusCallbackUrl: url }),
  }),
  show: ({ displayName, details }) => ({
    name: displayName,
    topic: details.topic,
    call_status_callback_url: details.statusCallbackUrl ?? null,
  }),
}
