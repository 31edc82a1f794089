import type { Resource, ResourceType } from '../../../directory/resource-types.ts'
import { timeText } from '../shared/field-schemas.ts'

/** Kinds of addresses, as the API tells them apart. */
export type AddressType = 'app' | 'room' | 'call' | 'subscriber'

/** Type and channels of an address, by the kind of its resource. */
const behind: Readonly<
  Record<ResourceType, { readonly type: AddressType; readonly channels: readonly string[] }>
> = {
  subscriber: { type: 'subscriber', channels: ['audio', 'video', 'messaging'] },
  // The conference of a room mixes sound alone.
  room: { type: 'room', channels: ['audio', 'messaging'] },
  sip_endpoint: { type: 'call', channels: ['audio'] },
  sip_gateway: { type: 'call', channels: ['audio'] },
  swml_script: { type: 'app', channels: ['audio'] },
  swml_webhook: { type: 'app', channels: ['audio'] },
  cxml_script: { type: 'app', channels: ['audio'] },
  cxml_webhook: { type: 'app', channels: ['audio'] },
  call_flow: { type: 'app', channels: ['audio'] },
  relay_application: { type: 'app', channels: ['audio'] },
  // Cannot be called yet.
  ai_agent: { type: 'app', channels: [] },
}

/** The kind of the address of a resource. */
export const addressTypeOf = (type: ResourceType): AddressType => behind[type].type

/** Whether the addresses of a kind of resources can be called or written to. */
export const isReachable = (type: ResourceType): boolean => behind[type].channels.length > 0

/** The kinds of resources that can be reached and whose addresses are of a kind; default of any kind. */
export const typesBehind = (wanted?: AddressType): readonly ResourceType[] =>
  (Object.keys(behind) as ResourceType[]).filter(
    (type) => isReachable(type) && (wanted === undefined || behind[type].type === wanted),
  )

/** The address of a resource as the API shows it. The values of its channels can be dialled as they stand. */
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

/** Its schema. */
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
