import type { Resource, ResourceType } from '../../../directory/model/resource-types.ts'
import { timeText } from '../shared/field-schemas.ts'

/** Type of an address in the API. */
export type AddressType = 'app' | 'room' | 'call' | 'subscriber'

/** Type and channels of an address, by the kind of its resource. */
const behind: Readonly<
  Record<ResourceType, { readonly type: AddressType; readonly channels: readonly string[] }>
> = {
  subscriber: { type: 'subscriber', channels: ['audio', 'video', 'messaging'] },
  room: { type: 'room', channels: ['audio', 'video', 'messaging'] },
  sip_endpoint: { type: 'call', channels: ['audio'] },
  sip_gateway: { type: 'call', channels: ['audio'] },
  swml_script: { type: 'app', channels: ['audio'] },
  swml_webhook: { type: 'app', channels: ['audio'] },
  cxml_script: { type: 'app', channels: ['audio'] },
  cxml_webhook: { type: 'app', channels: ['audio'] },
  call_flow: { type: 'app', channels: ['audio'] },
  relay_application: { type: 'app', channels: ['audio'] },
  ai_agent: { type: 'app', channels: ['audio'] },
}

/** Returns the type of the address of a resource. */
export const addressTypeOf = (type: ResourceType): AddressType => behind[type].type

/** Returns the types of resources whose addresses have a type; default any. */
export const typesBehind = (wanted?: AddressType): readonly ResourceType[] =>
  (Object.keys(behind) as ResourceType[]).filter(
    (type) => wanted === undefined || behind[type].type === wanted,
  )

/** Returns the address of a resource for responses. The values of `channels` can be dialled. */
export const addressBody = (resource: Resource) => {
  const { id, context, name } = resource.address
  const path = `/${context}/${name}`
  return {
    id,
    resource_id: resource.id,
    display_name: resource.displayName,
    name,
    type: addressTypeOf(resource.type),
    preview_url: null,
    cover_url: null,
    channels: Object.fromEntries(
      behind[resource.type].channels.map((channel) => [channel, `${path}?channel=${channel}`]),
    ),
    locked: false,
    created_at: timeText(resource.createdAt),
  }
}

const channel = { type: 'string' } as const

/** Schema of an {@link addressBody}. */
export const addressSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    resource_id: { type: 'string' },
    display_name: { type: 'string' },
    name: { type: 'string' },
    type: { type: 'string', enum: ['app', 'room', 'call', 'subscriber'] },
    preview_url: { type: 'null' },
    cover_url: { type: 'null' },
    channels: { type: 'object', properties: { audio: channel, video: channel, messaging: channel } },
    locked: { type: 'boolean' },
    created_at: { type: 'string', format: 'date-time' },
  },
} as const
