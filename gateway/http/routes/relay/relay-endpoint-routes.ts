import type { FastifyInstance } from 'fastify'
import type { Resource } from '../../../directory/resource-types.ts'
import { listBody, pageOf, pagingQuery } from '../../requests/paging.ts'
import type { ById, ResourceDeps } from '../fabric/resource-kind-routes.ts'
import {
  changedEndpoint,
  type EndpointBody,
  endpointAnswer,
  endpointProperties,
  newEndpoint,
  shownEndpoint,
} from '../fabric/sip-endpoint-kind.ts'
import { text } from '../shared/field-schemas.ts'
import { findResource, typesOf } from '../shared/resource-lookup.ts'
import { emptyBody, forProjects, idParams, listSchema } from '../shared/route-schemas.ts'

const base = '/api/relay/rest/endpoints/sip'

const describe = (operation: string, summary: string) => forProjects('sip_endpoints', operation, summary)

const schema = {
  type: 'object',
  properties: { id: { type: 'string' }, type: { type: 'string', enum: ['sip_endpoint'] }, ...endpointAnswer },
} as const

const body = (endpoint: Resource<'sip_endpoint'>) => ({
  id: endpoint.id,
  type: 'sip_endpoint',
  ...shownEndpoint(endpoint),
})

const bodySchema = (required: readonly string[]) => ({
  type: 'object',
  required: [...required],
  additionalProperties: false,
  properties: endpointProperties,
})

/**
 * `/api/relay/rest/endpoints/sip`: SIP endpoints in the older words of this API. They are the resources of
 * that kind.
 */
export const sipEndpointRoutes = (site: FastifyInstance, deps: ResourceDeps): void => {
  listRoute(site, deps)
  createRoute(site, deps)
  oneRoutes(site, deps)
  for (const method of ['PUT', 'PATCH'] as const) changeRoute(site, deps, method)
}

const listRoute = (site: FastifyInstance, { resources, requireProject }: ResourceDeps): void => {
  const querystring = {
    type: 'object',
    properties: { ...pagingQuery, filter_username: text() },
  } as const
  site.get<{ Querystring: { page_number: number; page_size: number; filter_username?: string } }>(
    base,
    {
      onRequest: requireProject('resources'),
      schema: {
        ...describe('list_relay_sip_endpoints', 'List the SIP endpoints'),
        querystring,
        response: { 200: listSchema(schema) },
      },
    },
    async ({ projectId, query }) => {
      const { filter_username: displayName } = query
      const listed = resources.list(projectId, { ...pageOf(query), types: ['sip_endpoint'], displayName })
      return listBody(listed, base, query, (each) => body(each as Resource<'sip_endpoint'>))
    },
  )
}

const createRoute = (site: FastifyInstance, { resources, requireProject }: ResourceDeps): void => {
  site.post<{ Body: EndpointBody }>(
    base,
    {
      onRequest: requireProject('resources'),
      schema: {
        ...describe('create_relay_sip_endpoint', 'Create a SIP endpoint'),
        body: bodySchema(['username', 'password']),
        response: { 201: schema },
      },
    },
    async ({ projectId, body: given }, reply) => {
      const endpoint = await resources.create({
        projectId,
        type: 'sip_endpoint',
        ...newEndpoint(given, typesOf(resources, projectId)),
      })
      return reply.code(201).send(body(endpoint))
    },
  )
}

const oneRoutes = (site: FastifyInstance, { resources, requireProject }: ResourceDeps): void => {
  const onRequest = requireProject('resources')
  const read = { params: idParams, response: { 200: schema } }
  site.get<ById>(
    `${base}/:id`,
    { onRequest, schema: { ...describe('get_relay_sip_endpoint', 'Get a SIP endpoint'), ...read } },
    async ({ projectId, params }) => body(findResource(resources, projectId, 'sip_endpoint', params.id)),
  )
  const gone = { params: idParams, response: { 204: emptyBody } }
  site.delete<ById>(
    `${base}/:id`,
    { onRequest, schema: { ...describe('delete_relay_sip_endpoint', 'Delete a SIP endpoint'), ...gone } },
    async ({ projectId, params }, reply) => {
      const { id } = findResource(resources, projectId, 'sip_endpoint', params.id)
      await resources.remove(projectId, 'sip_endpoint', id)
      return reply.code(204).send()
    },
  )
}

const changeRoute = (
  site: FastifyInstance,
  { resources, requireProject }: ResourceDeps,
  method: 'PUT' | 'PATCH',
): void => {
  const verb = method === 'PUT' ? 'update' : 'patch'
  site.route<ById & { Body: Partial<EndpointBody> }>({
    method,
    url: `${base}/:id`,
    onRequest: requireProject('resources'),
    schema: {
      ...describe(`${verb}_relay_sip_endpoint`, 'Change a SIP endpoint; omitted fields keep their values'),
      params: idParams,
      body: bodySchema([]),
      response: { 200: schema },
    },
    handler: async ({ projectId, params, body: given }) => {
      const endpoint = findResource(resources, projectId, 'sip_endpoint', params.id)
      const change = changedEndpoint(given, endpoint, typesOf(resources, projectId))
      return body(await resources.update(projectId, 'sip_endpoint', endpoint.id, change))
    },
  })
}
