import type { FastifyInstance } from 'fastify'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { DomainAppRecord, DomainApps, Resources } from '../../../directory/ports.ts'
import { listBody, pageOf, pagingQuery } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import { text } from '../shared/field-schemas.ts'
import { typesOf } from '../shared/resource-lookup.ts'
import { emptyBody, forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
import {
  type DomainAppBody,
  domainAppBody,
  domainAppProperties,
  domainAppSchema,
  ownFields,
} from './domain-app-body.ts'
import { handlerFields } from './handler-fields.ts'
import { readHandler } from './handler-reader.ts'

/** Collaborators of the routes of domain applications. */
export interface DomainAppDeps {
  readonly domainApps: DomainApps
  readonly resources: Pick<Resources, 'find'>
  readonly requireProject: RequireProject
}

interface ById {
  readonly Params: { readonly id: string }
}

interface List {
  readonly Querystring: {
    readonly page_number: number
    readonly page_size: number
    readonly filter_name?: string
    readonly filter_domain?: string
  }
}

/** Collaborators of the routes on one path. */
interface At extends DomainAppDeps {
  readonly site: FastifyInstance
  readonly base: string
  /** Describes a route; operation ids are unique. */
  readonly describe: (operation: string, summary: string) => object
}

/**
 * Paths of the routes, with the prefix of their operation ids: the path of the public API, and the one beside
 * other resources.
 */
const bases = {
  '/api/relay/rest/domain_applications': '',
  '/api/fabric/domain_applications': 'fabric_',
} as const

const bodySchema = (required: readonly string[]) => ({
  type: 'object',
  required: [...required],
  additionalProperties: false,
  properties: domainAppProperties,
})

/**
 * `/api/relay/rest/domain_applications` and `/api/fabric/domain_applications`: custom SIP domains, and what
 * handles their calls.
 */
export const domainApplicationRoutes = (site: FastifyInstance, deps: DomainAppDeps): void => {
  for (const [base, prefix] of Object.entries(bases)) {
    const describe: At['describe'] = (operation, summary) =>
      forProjects('domain_applications', prefix + operation, summary)
    const at = { ...deps, site, base, describe }
    listRoute(at)
    createRoute(at)
    oneRoutes(at)
    for (const method of ['PUT', 'PATCH'] as const) changeRoute(at, method)
  }
}

const found = ({ domainApps }: At, projectId: string, id: string): DomainAppRecord => {
  const app = domainApps.find(projectId, id)
  if (!app) throw new TrunklineError('unknown_resource')
  return app
}

const listRoute = ({ site, base, describe, domainApps, resources, requireProject }: At): void => {
  const querystring = {
    type: 'object',
    properties: { ...pagingQuery, filter_name: text(), filter_domain: text() },
  } as const
  const schema = { querystring, response: { 200: listSchema(domainAppSchema) } }
  site.get<List>(
    base,
    {
      onRequest: requireProject('resources'),
      schema: { ...describe('list_domain_applications', 'List the domain applications'), ...schema },
    },
    async ({ projectId, query }) => {
      const { filter_name: name, filter_domain: domain } = query
      const listed = domainApps.list(projectId, { ...pageOf(query), name, domain })
      return listBody(listed, base, { ...query }, (app) => domainAppBody(app, resources))
    },
  )
}

const createRoute = ({ site, base, describe, domainApps, resources, requireProject }: At): void => {
  const schema = { body: bodySchema(['name', 'identifier']), response: { 201: domainAppSchema } }
  site.post<{ Body: DomainAppBody }>(
    base,
    {
      onRequest: requireProject('resources'),
      schema: { ...describe('create_domain_application', 'Create a domain application'), ...schema },
    },
    async ({ projectId, body }, reply) => {
      const { codecs, ciphers, user = '*', ipAuthEnabled = false, ...own } = ownFields(body)
      const read = readHandler(body, undefined, typesOf(resources, projectId))
      const app = await domainApps.create(projectId, {
        name: body.name,
        identifier: body.identifier.toLowerCase(),
        user,
        ipAuthEnabled,
        ipAuth: own.ipAuth ?? [],
        encryption: own.encryption ?? 'optional',
        ...(codecs && { codecs }),
        ...(ciphers && { ciphers }),
        ...(read?.handler && { handler: read.handler }),
        ...(read?.statusCallback && { statusCallback: read.statusCallback }),
      })
      return reply.code(201).send(domainAppBody(app, resources))
    },
  )
}

const oneRoutes = (at: At): void => {
  const { site, base, describe, domainApps, resources, requireProject } = at
  const onRequest = requireProject('resources')
  const read = { params: idParams, response: { 200: domainAppSchema } }
  site.get<ById>(
    `${base}/:id`,
    {
      onRequest,
      schema: { ...describe('get_domain_application', 'Get a domain application'), ...read },
    },
    async ({ projectId, params }) => domainAppBody(found(at, projectId, params.id), resources),
  )
  const gone = { params: idParams, response: { 204: emptyBody } }
  site.delete<ById>(
    `${base}/:id`,
    {
      onRequest,
      schema: { ...describe('delete_domain_application', 'Delete a domain application'), ...gone },
    },
    async ({ projectId, params }, reply) => {
      await domainApps.remove(projectId, found(at, projectId, params.id).id)
      return reply.code(204).send()
    },
  )
}

const changeRoute = (at: At, method: 'PUT' | 'PATCH'): void => {
  const { site, base, describe, domainApps, resources, requireProject } = at
  const verb = method === 'PUT' ? 'update' : 'patch'
  site.route<ById & { Body: Partial<DomainAppBody> }>({
    method,
    url: `${base}/:id`,
    onRequest: requireProject('resources'),
    schema: {
      ...describe(
        `${verb}_domain_application`,
        'Change a domain application; omitted fields keep their values',
      ),
      params: idParams,
      body: bodySchema([]),
      response: { 200: domainAppSchema },
    },
    handler: async ({ projectId, params, body }) => {
      const app = found(at, projectId, params.id)
      const read = readHandler(body, handlerFields(app, resources), typesOf(resources, projectId))
      const changed = await domainApps.update(projectId, app.id, { ...ownFields(body), ...read })
      return domainAppBody(changed, resources)
    },
  })
}
