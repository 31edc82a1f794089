import { defaultEndpointCodecs } from '../../../config/schema/codec-schema.ts'
import { pathOf } from '../model/address-path.ts'
import type { SipEndpoint, Subscriber } from '../model/callers.ts'
import type { DigestSecret } from '../model/digest-secret.ts'
import type { Resource, ResourceDetails, ResourceType } from '../model/resource-types.ts'

/** Row of a resource. */
export interface EntryRow {
  readonly id: string
  readonly project_id: string
  readonly type: ResourceType
  readonly display_name: string
  readonly details_json: string
  readonly managed_by_file: number
  readonly created_at: number
  readonly updated_at: number
  readonly address_id: string
  readonly context: string
  readonly name: string
  readonly email: string | null
  readonly password_hash: string | null
  readonly disabled: number | null
  readonly tokens_after: number | null
  readonly push_key: string | null
  readonly do_not_disturb: number | null
  readonly username: string | null
  readonly secrets_json: string | null
  readonly deployed_version: number | null
  readonly deployed_flow: string | null
  readonly deployed_script: string | null
}

/** Text of a flow to run. */
export interface FlowText {
  readonly flow?: string
  readonly script?: string
}

/** Resource in memory, with properties that the API does not show. */
export interface Entry {
  readonly resource: Resource
  readonly subscriber?: Subscriber
  readonly endpoint?: EndpointEntry
  readonly passwordHash?: string
  /** Flow that calls at `current_deployed` run. */
  readonly deployed?: FlowText
}

/** SIP endpoint without its handler, which is looked up at each call. */
export type EndpointEntry = Omit<SipEndpoint, 'handler'>

/** Converts a row to an entry. */
export const entryOf = (row: EntryRow): Entry => {
  const details = detailsOf(row)
  const resource = {
    id: row.id,
    projectId: row.project_id,
    type: row.type,
    displayName: row.display_name,
    address: { id: row.address_id, context: row.context, name: row.name },
    details,
    managedByFile: row.managed_by_file === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  } as Resource
  if (resource.type === 'subscriber') return { resource, ...personOf(resource, row) }
  if (resource.type === 'sip_endpoint') return { resource, endpoint: phoneOf(resource, row) }
  if (resource.type === 'call_flow' && row.deployed_version !== null)
    return { resource, deployed: flowOf(row.deployed_flow, row.deployed_script) }
  return { resource }
}

/** Returns the text of a flow from its columns. */
export const flowOf = (flow: string | null, script: string | null): FlowText => ({
  ...(flow !== null && { flow }),
  ...(script !== null && { script }),
})

const detailsOf = (row: EntryRow): ResourceDetails[ResourceType] => {
  const details = JSON.parse(row.details_json)
  if (row.email !== null) details.email = row.email
  if (row.username !== null) details.username = row.username
  if (row.type === 'call_flow' && row.deployed_version !== null)
    details.deployedVersion = row.deployed_version
  return details
}

const personOf = (
  { id, projectId, address, displayName, details }: Resource<'subscriber'>,
  row: EntryRow,
): Pick<Entry, 'subscriber' | 'passwordHash'> => ({
  subscriber: {
    id,
    projectId,
    displayName,
    address: pathOf(address),
    addressId: address.id,
    email: details.email,
    firstName: details.firstName ?? '',
    lastName: details.lastName ?? '',
    mayDialOut: details.mayDialOut,
    ...(details.maxCalls !== undefined && { maxCalls: details.maxCalls }),
    ...(details.callsPerSecond !== undefined && { callsPerSecond: details.callsPerSecond }),
    disabled: row.disabled === 1,
    tokensAfter: row.tokens_after ?? 0,
    ...(row.push_key !== null && { pushKey: row.push_key }),
    ...(row.do_not_disturb === 1 && { doNotDisturb: true }),
  },
  ...(row.password_hash !== null && { passwordHash: row.password_hash }),
})

const phoneOf = (
  { id, projectId, address, displayName, details }: Resource<'sip_endpoint'>,
  row: EntryRow,
): EndpointEntry => {
  const { username, callerId, sendAs, mayDialOut, maxCalls, callsPerSecond, codecs, encryption } = details
  const secrets: readonly DigestSecret[] = JSON.parse(row.secrets_json ?? '[]')
  return {
    id,
    projectId,
    username,
    address: pathOf(address),
    displayName,
    callerId,
    mayDialOut,
    ...(sendAs !== undefined && { sendAs }),
    ...(maxCalls !== undefined && { maxCalls }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
    codecs: codecs ?? defaultEndpointCodecs,
    ...(encryption === 'required' && { encryption }),
    secrets: new Map(secrets.map((secret) => [secret.realm, secret])),
  }
}
