import { mayReach, type TokenIdentity } from '../../../auth/token-identity.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { Listed, Resource } from '../../../directory/model/resource-types.ts'
import { type Authenticate, bearerOf, requireBearer } from '../../requests/bearer-auth.ts'
import { pageOf, pagingQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite, Validated } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { forSubscribers } from '../shared/route-schemas.ts'
import { addressBody, addressSchema, addressTypeOf, typesBehind } from './address-body.ts'

/** Collaborators of the address routes. */
export interface AddressDeps {
  readonly resources: Pick<Resources, 'list' | 'findByAddressId'>
  readonly authenticate: Authenticate
}

const querystring = {
  type: 'object',
  properties: {
    ...pagingQuery,
    type: { type: 'string', enum: ['app', 'room', 'call', 'subscriber'] },
    name: { type: 'string', maxLength: 200 },
    display_name: { type: 'string', maxLength: 256 },
    sort_by: { type: 'string', enum: ['name', 'created_at'], default: 'name' },
    sort_order: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
  },
} as const

type Query = Validated<typeof querystring>

/**
 * `GET /api/fabric/addresses` and `…/{id}`: addresses that the holder of a token may call. Guests see only
 * the addresses of their token.
 */
export const addressRoutes = (site: TypedSite, { resources, authenticate }: AddressDeps): void => {
  const routes = new CollectionRoutes<Resource>(site, {
    path: '/api/fabric/addresses',
    onRequest: requireBearer(authenticate),
    schema: addressSchema,
    show: addressBody,
  })
  routes.list(
    forSubscribers('addresses', 'list_addresses', 'List the addresses that can be called'),
    querystring,
    (request) => visible(resources, bearerOf(request).identity, request.query),
  )
  routes.read(forSubscribers('addresses', 'get_address', 'Get an address'), (request) => {
    const { identity } = bearerOf(request)
    const { id } = request.params
    const resource = mayReach(identity, id) ? resources.findByAddressId(identity.projectId, id) : undefined
    if (!resource) throw new TrunklineError('unknown_address')
    return resource
  })
}

const visible = (
  resources: AddressDeps['resources'],
  identity: TokenIdentity,
  query: Query,
): Listed<Resource> => {
  if (identity.addressIds) return visibleToGuest(resources, identity, query)
  return resources.list(identity.projectId, {
    ...pageOf(query),
    types: typesBehind(query.type),
    displayName: query.display_name,
    name: query.name,
    sortBy: query.sort_by,
    descending: query.sort_order === 'desc',
  })
}

/** Filters in memory: the token of a guest has at most ten addresses. */
const visibleToGuest = (
  resources: AddressDeps['resources'],
  { projectId, addressIds = new Set() }: TokenIdentity,
  query: Query,
): Listed<Resource> => {
  const all = [...addressIds]
    .flatMap((id) => resources.findByAddressId(projectId, id) ?? [])
    .filter((resource) => matches(resource, query))
    .sort(order(query))
  return sliceOf(all, pageOf(query))
}

const matches = ({ type, displayName, address }: Resource, query: Query): boolean =>
  (query.type === undefined || addressTypeOf(type) === query.type) &&
  (query.name === undefined || [address.name, `/${address.context}/${address.name}`].includes(query.name)) &&
  (query.display_name === undefined || displayName.toLowerCase().includes(query.display_name.toLowerCase()))

const order =
  ({ sort_by, sort_order }: Query) =>
  (a: Resource, b: Resource): number => {
    const ascending =
      sort_by === 'name' ? a.address.name.localeCompare(b.address.name) : a.createdAt - b.createdAt
    return sort_order === 'asc' ? ascending : -ascending
  }
