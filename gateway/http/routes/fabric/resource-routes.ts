import type { DomainApps } from '../../../directory/model/ports.ts'
import type { Resource, ResourceType } from '../../../directory/model/resource-types.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { address, badField, text } from '../shared/field-schemas.ts'
import { findAnyResource, removeResource } from '../shared/resource-lookup.ts'
import { emptyBody, forProjects, idParams } from '../shared/route-schemas.ts'
import { anySchema, resourceBody } from './resource-body.ts'
import { addressList, addressPage, type ResourceDeps } from './resource-kind-routes.ts'
import { kinds } from './resource-kinds.ts'
import { handledBy } from './sip-endpoint-kind.ts'

/** Collaborators of the routes of all resources. */
export interface AllResourceDeps extends ResourceDeps {
  readonly domainApps: Pick<DomainApps, 'find' | 'update'>
}

const querystring = {
  type: 'object',
  properties: {
    ...pagingQuery,
    type: { type: 'string', enum: Object.keys(kinds) as ResourceType[] },
    display_name: text(),
    address,
    sort_by: { type: 'string', enum: ['name', 'created_at'], default: 'created_at' },
    sort_order: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
  },
} as const

const path = '/api/fabric/resources'
const tag = 'resources'

/**
 * Resources of every kind under `/api/fabric/resources`: list, read, remove, list the address, and assign as
 * a handler.
 */
export const resourceRoutes = (site: TypedSite, deps: AllResourceDeps): void => {
  readRoutes(site, deps)
  oneRoutes(site, deps)
  for (const assignment of assignments(deps)) assignRoute(site, deps, assignment)
}

const readRoutes = (site: TypedSite, { resources, requireProject }: ResourceDeps): void => {
  const onRequest = requireProject('resources')
  const options = { path, onRequest, schema: anySchema, show: resourceBody }
  const routes = new CollectionRoutes<Resource>(site, options)
  routes.list(
    forProjects(tag, 'list_resources', 'List the resources of every kind'),
    querystring,
    ({ projectId, query }) =>
      resources.list(projectId, {
        ...pageOf(query),
        types: query.type && [query.type],
        displayName: query.display_name,
        name: query.address,
        sortBy: query.sort_by,
        descending: query.sort_order === 'desc',
      }),
  )
  routes.read(forProjects(tag, 'get_resource', 'Get a resource'), ({ projectId, params }) =>
    findAnyResource(resources, projectId, params.id),
  )
}

const oneRoutes = (site: TypedSite, { resources, requireProject }: ResourceDeps): void => {
  const onRequest = requireProject('resources')
  const subscribers = requireProject('subscribers')
  const removed = { params: idParams, response: { 204: emptyBody } }
  site.delete(
    `${path}/:id`,
    { onRequest, schema: { ...forProjects(tag, 'delete_resource', 'Delete a resource'), ...removed } },
    async (request, reply) => {
      const resource = findAnyResource(resources, request.projectId, request.params.id)
      // Without the scope for subscribers, a token must not be able to remove a subscriber through this path
      // either.
      if (resource.type === 'subscriber') await subscribers(request, reply)
      await removeResource(resources, resource)
      return reply.code(204).send()
    },
  )
  const description = forProjects(tag, 'list_resource_addresses', 'List the addresses of a resource')
  site.get(
    `${path}/:id/addresses`,
    { onRequest, schema: { ...description, ...addressList } },
    async ({ projectId, params, query, url }) =>
      addressPage(findAnyResource(resources, projectId, params.id), url, query),
  )
}

/** Objects that a resource can be assigned to as handler. */
interface Assignment {
  /** Last part of the path, also in operation ids. */
  readonly collection: string
  /** Field of the body with the id of the object whose calls the resource handles. */
  readonly field: string
  readonly title: string
  readonly exists: (projectId: string, id: string) => boolean
  readonly assign: (projectId: string, id: string, resourceId: string) => Promise<unknown>
}

const assignments = ({ resources, domainApps }: AllResourceDeps): readonly Assignment[] => [
  {
    collection: 'domain_applications',
    field: 'domain_application_id',
    title: 'domain application',
    exists: (projectId, id) => domainApps.find(projectId, id) !== undefined,
    assign: (projectId, id, resourceId) =>
      domainApps.update(projectId, id, { handler: { kind: 'resource', resourceId } }),
  },
  {
    collection: 'sip_endpoints',
    field: 'sip_endpoint_id',
    title: 'SIP endpoint',
    exists: (projectId, id) => resources.find(projectId, 'sip_endpoint', id) !== undefined,
    assign: (projectId, id, resourceId) =>
      resources.update(projectId, 'sip_endpoint', id, { details: handledBy(resourceId) }),
  },
]

/**
 * `POST …/{id}/domain_applications` and `…/{id}/sip_endpoints`: make the resource the handler of one of
 * these.
 */
const assignRoute = (
  site: TypedSite,
  { resources, requireProject }: AllResourceDeps,
  { collection, field, title, exists, assign }: Assignment,
): void => {
  const summary = `Make a resource the handler of a ${title}`
  const body = {
    type: 'object',
    required: [field],
    additionalProperties: false,
    properties: { [field]: { type: 'string', format: 'uuid' } },
  } as const
  site.post(
    `${path}/:id/${collection}`,
    {
      onRequest: requireProject('resources'),
      schema: { ...forProjects(tag, `assign_${collection.slice(0, -1)}`, summary), ...addressList, body },
    },
    async ({ projectId, params, body: given, query, url }) => {
      const resource = findAnyResource(resources, projectId, params.id)
      const id = given[field] ?? ''
      if (!exists(projectId, id)) throw badField(field, `There is no such ${title}.`)
      await assign(projectId, id, resource.id)
      return addressPage(resource, url, query)
    },
  )
}
