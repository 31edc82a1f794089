import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resource } from '../../../directory/model/resource-types.ts'
import { pageOf, pageQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { endpointsOf, findResource, typesOf } from '../shared/resource-lookup.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import type { ResourceDeps } from './resource-kind-routes.ts'
import { endpointChange, newEndpointBody, sipEndpoints } from './sip-endpoint-kind.ts'

const itemParams = {
  type: 'object',
  required: ['id', 'endpoint_id'],
  properties: { id: { type: 'string' }, endpoint_id: { type: 'string' } },
} as const

const schema = { type: 'object', properties: { id: { type: 'string' }, ...sipEndpoints.answer } } as const

/**
 * SIP endpoints of a subscriber, below `{base}/{id}/sip_endpoints`. These endpoints are also resources, each
 * with its own address.
 */
export const subscriberEndpointRoutes = (
  site: TypedSite,
  { resources, requireProject }: Pick<ResourceDeps, 'resources' | 'requireProject'>,
  base: string,
): void => {
  const name = `${base.slice('/api/'.length).replaceAll('/', '_')}_sip_endpoints`
  const describe = (verb: string, summary: string) => forProjects('subscribers', `${verb}_${name}`, summary)
  const find = (projectId: string, { id, endpoint_id }: { id: string; endpoint_id: string }) => {
    const endpoint = findResource(resources, projectId, 'sip_endpoint', endpoint_id)
    if (endpoint.details.subscriberId !== id) throw new TrunklineError('unknown_resource')
    return endpoint
  }
  const routes = new CollectionRoutes(site, {
    path: `${base}/:id/sip_endpoints`,
    itemPath: ':endpoint_id',
    params: idParams,
    itemParams,
    onRequest: requireProject('subscribers'),
    schema,
    show: (endpoint: Resource<'sip_endpoint'>) => ({ id: endpoint.id, ...sipEndpoints.show(endpoint) }),
  })
  routes.list(
    describe('list', 'List the SIP endpoints of a subscriber'),
    pageQuery,
    ({ projectId, params, query }) => {
      const subscriber = findResource(resources, projectId, 'subscriber', params.id)
      return sliceOf(endpointsOf(resources, subscriber), pageOf(query))
    },
  )
  routes.create(
    describe('create', 'Create a SIP endpoint of a subscriber'),
    newEndpointBody,
    async ({ projectId, params, body }) => {
      const { id: subscriberId } = findResource(resources, projectId, 'subscriber', params.id)
      const { details, ...made } = sipEndpoints.create(body, typesOf(resources, projectId))
      return resources.create({
        projectId,
        type: 'sip_endpoint',
        context: 'private',
        ...made,
        details: { ...details, subscriberId },
      })
    },
  )
  routes.read(describe('get', 'Get a SIP endpoint of a subscriber'), ({ projectId, params }) =>
    find(projectId, params),
  )
  routes.update(
    (verb) => describe(verb, 'Change a SIP endpoint of a subscriber; omitted fields keep their values'),
    endpointChange,
    async ({ projectId, params, body }) => {
      const endpoint = find(projectId, params)
      const change = sipEndpoints.change(body, endpoint, typesOf(resources, projectId))
      return resources.update(projectId, 'sip_endpoint', endpoint.id, change)
    },
  )
  routes.remove(describe('delete', 'Delete a SIP endpoint of a subscriber'), ({ projectId, params }) =>
    resources.remove(projectId, 'sip_endpoint', find(projectId, params).id),
  )
}
