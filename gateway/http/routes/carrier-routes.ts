import type { FastifyInstance } from 'fastify'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { CarrierEntry, CarrierRecord, ProjectCarriers } from '../../directory/ports.ts'
import { listBody, pageOf, pagingQuery } from '../requests/paging.ts'
import type { RequireProject } from '../requests/principal.ts'
import { emptyBody, forProjects, idParams, listSchema } from './shared/route-schemas.ts'

/** Collaborators of the routes of carriers. */
export interface CarrierDeps {
  readonly carriers: ProjectCarriers
  readonly requireProject: RequireProject
}

interface ById {
  readonly Params: { readonly id: string }
}

interface Paged {
  readonly Querystring: { readonly page_number: number; readonly page_size: number }
}

const base = '/api/fabric/carriers'

/**
 * The fields are those of the configuration file, and checked by its rules; only what every carrier has is
 * named here.
 */
const fields = {
  name: { type: 'string', description: 'Its name, unique in the project.' },
  targets: {
    type: 'array',
    items: { type: 'string' },
    description: 'SIP URIs without a user, in this order.',
  },
} as const

const body = {
  type: 'object',
  description: 'An entry of carriers as in /schemas/configuration.json, without project and tls.',
  required: ['name', 'targets'],
  additionalProperties: true,
  properties: fields,
} as const

const answer = {
  type: 'object',
  description: 'The entry as it was given, without passwords.',
  required: ['id', 'project_id', 'created_at', 'updated_at', 'name', 'targets'],
  additionalProperties: true,
  properties: {
    id: { type: 'string' },
    project_id: { type: 'string' },
    managed_by: { type: 'string', enum: ['file', 'api'] },
    created_at: { type: ['string', 'null'] },
    updated_at: { type: ['string', 'null'] },
    ...fields,
  },
} as const

const describe = (operation: string, summary: string) => forProjects('carriers', operation, summary)

/**
 * `/api/fabric/carriers`: the carriers of a project, in the words of the configuration file. What changes
 * holds for the next call.
 */
export const carrierRoutes = (site: FastifyInstance, { carriers, requireProject }: CarrierDeps): void => {
  const onRequest = requireProject('resources')
  site.get<Paged>(
    base,
    {
      onRequest,
      schema: {
        ...describe('list_carriers', 'List the carriers'),
        querystring: { type: 'object', properties: pagingQuery },
        response: { 200: listSchema(answer) },
      },
    },
    async ({ projectId, query }) => listBody(carriers.list(projectId, pageOf(query)), base, query, shown),
  )
  site.post<{ Body: CarrierEntry }>(
    base,
    {
      onRequest,
      schema: { ...describe('create_carrier', 'Create a carrier'), body, response: { 201: answer } },
    },
    async (request, reply) =>
      reply.code(201).send(shown(await carriers.create(request.projectId, request.body))),
  )
  site.get<ById>(
    `${base}/:id`,
    {
      onRequest,
      schema: { ...describe('get_carrier', 'Get a carrier'), params: idParams, response: { 200: answer } },
    },
    async ({ projectId, params }) => {
      const record = carriers.find(projectId, params.id)
      if (!record) throw new TrunklineError('unknown_resource')
      return shown(record)
    },
  )
  changing(site, { carriers, requireProject })
}

const changing = (site: FastifyInstance, { carriers, requireProject }: CarrierDeps): void => {
  const onRequest = requireProject('resources')
  site.put<ById & { Body: CarrierEntry }>(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        ...describe('replace_carrier', 'Replace a carrier; a password that is not given stays'),
        params: idParams,
        body,
        response: { 200: answer },
      },
    },
    async (request) => shown(await carriers.replace(request.projectId, request.params.id, request.body)),
  )
  site.delete<ById>(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        ...describe('delete_carrier', 'Delete a carrier; its calls go on'),
        params: idParams,
        response: { 204: emptyBody },
      },
    },
    async ({ projectId, params }, reply) => {
      await carriers.remove(projectId, params.id)
      return reply.code(204).send()
    },
  )
}

const shown = ({ id, projectId, entry, managedByFile, createdAt, updatedAt }: CarrierRecord) => ({
  ...entry,
  id,
  project_id: projectId,
  managed_by: managedByFile ? 'file' : 'api',
  created_at: time(createdAt),
  updated_at: time(updatedAt),
})

/** Carriers in the configuration file have no time of creation. */
const time = (ms: number): string | null => (ms === 0 ? null : new Date(ms).toISOString())
