import type { FastifyInstance } from 'fastify'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resource } from '../../../directory/resource-types.ts'
import { listBody, pageOf, pagingQuery } from '../../requests/paging.ts'
import { endpointsOf, findResource, typesOf } from '../shared/resource-lookup.ts'
import { emptyBody, forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
import type { ById, Paged, ResourceDeps } from './resource-kind-routes.ts'
import {
  changedEndpoint,
  type EndpointBody,
  endpointAnswer,
  endpointProperties,
  newEndpoint,
  shownEndpoint,
} from './sip-endpoint-kind.ts'

interface ByBoth {
  readonly Params: { readonly id: string; readonly endpoint_id: string }
}

const bothParams = {
  type: 'object',
  required: ['id', 'endpoint_id'],
  properties: { id: { type: 'string' }, endpoint_id: { type: 'string' } },
} as const

const schema = { type: 'object', properties: { id: { type: 'string' }, ...endpointAnswer } } as const

const body = (endpoint: Resource<'sip_endpoint'>) => ({ id: endpoint.id, ...shownEndpoint(endpoint) })

const bodySchema = (required: readonly string[]) => ({
  type: 'object',
  required: [...required],
  additionalProperties: false,
  properties: endpointProperties,
})

/**
 * SIP endpoints of a subscriber, below `{base}/{id}/sip_endpoints`; they are resources too, with addresses of
 * their own.
 */
export const subscriberEndpointRoutes = (site: FastifyInstance, deps: ResourceDeps, base: string): void => {
  const name = `${base.slice('/api/'.length).replaceAll('/', '_')}_sip_endpoints`
  const path = `${base}/:id/sip_endpoints`
  listRoute(site, deps, path, name)
  createRoute(site, deps, path, name)
  readRoute(site, deps, `${path}/:endpoint_id`, name)
  for (const method of ['PUT', 'PATCH'] as const)
    changeRoute(site, deps, method, `${path}/:endpoint_id`, name)
  removeRoute(site, deps, `${path}/:endpoint_id`, name)
}

const describe = (operation: string, summary: string) => forProjects('subscribers', operation, summary)

const own = (
  { resources }: Pick<ResourceDeps, 'resources'>,
  projectId: string,
  { id, endpoint_id }: ByBoth['Params'],
): Resource<'sip_endpoint'> => {
  const endpoint = findResource(resources, projectId, 'sip_endpoint', endpoint_id)
  if (endpoint.details.subscriberId !== id) throw new TrunklineError('unknown_resource')
  return endpoint
}

const listRoute = (site: FastifyInstance, deps: ResourceDeps, url: string, name: string): void => {
  const { resources, requireProject } = deps
  const querystring = { type: 'object', properties: pagingQuery } as const
  const lists = { params: idParams, querystring, response: { 200: listSchema(schema) } }
  site.get<ById & Paged>(
    url,
    {
      onRequest: requireProject('subscribers'),
      schema: { ...describe(`list_${name}`, 'List the SIP endpoints of a subscriber'), ...lists },
    },
    async ({ projectId, params, query, url: at }) => {
      const all = endpointsOf(resources, findResource(resources, projectId, 'subscriber', params.id))
      const { number, size } = pageOf(query)
      const items = all.slice(number * size, (number + 1) * size)
      return listBody({ items, total: all.length }, at.split('?', 1)[0] ?? at, query, body)
    },
  )
}

const createRoute = (site: FastifyInstance, deps: ResourceDeps, url: string, name: string): void => {
  const { resources, requireProject } = deps
  const creates = {
    params: idParams,
    body: bodySchema(['username', 'password']),
    response: { 201: schema },
  }
  site.post<ById & { Body: EndpointBody }>(
    url,
    {
      onRequest: requireProject('subscribers'),
      schema: { ...describe(`create_${name}`, 'Create a SIP endpoint of a subscriber'), ...creates },
    },
    async ({ projectId, params, body: given }, reply) => {
      const { id: subscriberId } = findResource(resources, projectId, 'subscriber', params.id)
      const made = newEndpoint(given, typesOf(resources, projectId))
      const endpoint = await resources.create({
        projectId,
        type: 'sip_endpoint',
        context: 'private',
        ...made,
        details: { ...made.details, subscriberId },
      })
      return reply.code(201).send(body(endpoint))
    },
  )
}

const readRoute = (site: FastifyInstance, deps: ResourceDeps, url: string, name: string): void => {
  const reads = { params: bothParams, response: { 200: schema } }
  site.get<ByBoth>(
    url,
    {
      onRequest: deps.requireProject('subscribers'),
      schema: { ...describe(`get_${name}`, 'Get a SIP endpoint of a subscriber'), ...reads },
    },
    async ({ projectId, params }) => body(own(deps, projectId, params)),
  )
}

const changeRoute = (
  site: FastifyInstance,
  deps: ResourceDeps,
  method: 'PUT' | 'PATCH',
  url: string,
  name: string,
): void => {
  const { resources, requireProject } = deps
  const verb = method === 'PUT' ? 'update' : 'patch'
  site.route<ByBoth & { Body: Partial<EndpointBody> }>({
    method,
    url,
    onRequest: requireProject('subscribers'),
    schema: {
      ...describe(
        `${verb}_${name}`,
        'Change a SIP endpoint of a subscriber; omitted fields keep their values',
      ),
      params: bothParams,
      body: bodySchema([]),
      response: { 200: schema },
    },
    handler: async ({ projectId, params, body: given }) => {
      const endpoint = own(deps, projectId, params)
      const change = changedEndpoint(given, endpoint, typesOf(resources, projectId))
      return body(await resources.update(projectId, 'sip_endpoint', endpoint.id, change))
    },
  })
}

const removeRoute = (site: FastifyInstance, deps: ResourceDeps, url: string, name: string): void => {
  const { resources, requireProject } = deps
  const removes = { params: bothParams, response: { 204: emptyBody } }
  site.delete<ByBoth>(
    url,
    {
      onRequest: requireProject('subscribers'),
      schema: { ...describe(`delete_${name}`, 'Delete a SIP endpoint of a subscriber'), ...removes },
    },
    async ({ projectId, params }, reply) => {
      await resources.remove(projectId, 'sip_endpoint', own(deps, projectId, params).id)
      return reply.code(204).send()
    },
  )
}
