import type { Resource } from '../../../directory/model/resource-types.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { text } from '../shared/field-schemas.ts'
import { findResource, typesOf } from '../shared/resource-lookup.ts'
import { forProjects } from '../shared/route-schemas.ts'
import type { ResourceDeps } from './resource-kind-routes.ts'
import { endpointChange, newEndpointBody, sipEndpoints } from './sip-endpoint-kind.ts'

const describe = (operation: string, summary: string) => forProjects('sip_endpoints', operation, summary)

const schema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    type: { type: 'string', enum: ['sip_endpoint'] },
    ...sipEndpoints.answer,
  },
} as const

const querystring = { type: 'object', properties: { ...pagingQuery, filter_username: text() } } as const

/**
 * `/api/relay/rest/endpoints/sip`: the resources of the kind `sip_endpoint`, in the older form of this API.
 */
export const sipEndpointRoutes = (
  site: TypedSite,
  { resources, requireProject }: Pick<ResourceDeps, 'resources' | 'requireProject'>,
): void => {
  const find = (projectId: string, id: string) => findResource(resources, projectId, 'sip_endpoint', id)
  const routes = new CollectionRoutes<Resource>(site, {
    path: '/api/relay/rest/endpoints/sip',
    onRequest: requireProject('resources'),
    schema,
    show: (endpoint) => ({
      id: endpoint.id,
      type: 'sip_endpoint',
      ...sipEndpoints.show(endpoint as Resource<'sip_endpoint'>),
    }),
  })
  routes.list(
    describe('list_relay_sip_endpoints', 'List the SIP endpoints'),
    querystring,
    ({ projectId, query }) =>
      resources.list(projectId, {
        ...pageOf(query),
        types: ['sip_endpoint'],
        displayName: query.filter_username,
      }),
  )
  routes.create(
    describe('create_relay_sip_endpoint', 'Create a SIP endpoint'),
    newEndpointBody,
    ({ projectId, body }) =>
      resources.create({
        projectId,
        type: 'sip_endpoint',
        ...sipEndpoints.create(body, typesOf(resources, projectId)),
      }),
  )
  routes.read(describe('get_relay_sip_endpoint', 'Get a SIP endpoint'), ({ projectId, params }) =>
    find(projectId, params.id),
  )
  routes.remove(describe('delete_relay_sip_endpoint', 'Delete a SIP endpoint'), ({ projectId, params }) =>
    resources.remove(projectId, 'sip_endpoint', find(projectId, params.id).id),
  )
  routes.update(
    (verb) =>
      describe(`${verb}_relay_sip_endpoint`, 'Change a SIP endpoint; omitted fields keep their values'),
    endpointChange,
    async ({ projectId, params, body }) => {
      const change = sipEndpoints.change(body, find(projectId, params.id), typesOf(resources, projectId))
      return resources.update(projectId, 'sip_endpoint', params.id, change)
    },
  )
}
