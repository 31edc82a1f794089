import type { FastifyInstance } from 'fastify'
import type { Log } from '../../../core/log.ts'
import type { Resources } from '../../../directory/ports.ts'
import type {
  NewResource,
  Resource,
  ResourceChange,
  ResourceType,
} from '../../../directory/resource-types.ts'
import { slugOf } from '../../../directory/writing/names.ts'
import { listBody, pageOf, pagingQuery } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import { type Checks, checkStored } from '../shared/document-checks.ts'
import { address, text } from '../shared/field-schemas.ts'
import { findResource, placeOf, removeResource, typesOf } from '../shared/resource-lookup.ts'
import { emptyBody, forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
import { addressBody, addressSchema } from './address-body.ts'
import { resourceBody, schemaOf } from './resource-body.ts'
import type { ResourceKind } from './resource-kind.ts'

/** Collaborators of the routes of resources. */
export interface ResourceDeps {
  readonly resources: Resources
  readonly documentChecks: Checks
  readonly requireProject: RequireProject
  readonly log: Pick<Log, 'info'>
}

/** A path with an id. */
export interface ById {
  readonly Params: { readonly id: string }
}

/** A list that comes in pages. */
export interface Paged {
  readonly Querystring: { readonly page_number: number; readonly page_size: number }
}

/** One kind of resources under one path. */
interface Site<T extends ResourceType> {
  readonly site: FastifyInstance
  readonly resources: Resources
  readonly documentChecks: Checks
  readonly log: Pick<Log, 'info'>
  readonly kind: ResourceKind<T>
  readonly base: string
  readonly onRequest: ReturnType<RequireProject>
  /** Describes a route; its operation id is unique, for a kind may be served under several paths. */
  readonly describe: (verb: string, summary: string) => object
  readonly schema: object
}

/** Bytes of a body: a document of the largest size, most of its characters escaped. */
const bodyLimit = 512 * 1024

/** Routes of one kind: list, POST, GET, PUT, PATCH, DELETE and the addresses, below `base`. */
export const kindRoutes = <T extends ResourceType>(
  site: FastifyInstance,
  { resources, documentChecks, requireProject, log }: ResourceDeps,
  kind: ResourceKind<T>,
  base = `/api/fabric/resources/${kind.path}`,
): void => {
  const name = base.slice('/api/'.length).replaceAll('/', '_')
  const at: Site<T> = {
    site,
    resources,
    documentChecks,
    log,
    kind,
    base,
    onRequest: requireProject(kind.type === 'subscriber' ? 'subscribers' : 'resources'),
    describe: (verb, summary) => forProjects(kind.path, `${verb}_${name}`, summary),
    schema: schemaOf(kind as ResourceKind),
  }
  listRoute(at)
  createRoute(at)
  readRoute(at)
  changeRoute(at, 'PUT')
  changeRoute(at, 'PATCH')
  removeRoute(at)
  addressRoute(at)
}

const listQuery = { type: 'object', properties: { ...pagingQuery, display_name: text() } } as const

const listRoute = <T extends ResourceType>(at: Site<T>): void => {
  const { site, resources, kind, base, onRequest, describe } = at
  const schema = { querystring: listQuery, response: { 200: listSchema(at.schema) } }
  site.get<{ Querystring: Paged['Querystring'] & { readonly display_name?: string } }>(
    base,
    { onRequest, schema: { ...describe('list', `List each ${kind.title}`), ...schema } },
    async ({ projectId, query }) => {
      const { display_name: displayName } = query
      const listed = resources.list(projectId, { ...pageOf(query), types: [kind.type], displayName })
      return listBody(listed, base, query, resourceBody)
    },
  )
}

type Body = Record<string, unknown> & { readonly address?: string }

const bodySchema = (properties: object, required: readonly string[]) => ({
  type: 'object',
  required: [...required],
  additionalProperties: false,
  properties: { ...properties, address },
})

const createRoute = <T extends ResourceType>(at: Site<T>): void => {
  const { site, resources, log, kind, base, onRequest, describe } = at
  const schema = { body: bodySchema(kind.properties, kind.required), response: { 201: at.schema } }
  site.post<{ Body: Body }>(
    base,
    { onRequest, bodyLimit, schema: { ...describe('create', `Create a ${kind.title}`), ...schema } },
    async ({ projectId, body }, reply) => {
      const { address: place, ...fields } = body
      await checkDocuments(at, projectId, fields)
      // The schema has checked that the fields are those of the kind.
      const made = {
        ...kind.create(fields, typesOf(resources, projectId)),
        projectId,
        type: kind.type,
        ...placeOf(place),
      } as unknown
      const resource = await resources.create(made as NewResource<T>)
      const taken = place === undefined && addressTaken(resources, resource)
      if (taken) {
        const facts = { event: 'resource.numbered', project: projectId, id: resource.id, taken }
        log.info({ ...facts, address: addressText(resource) }, 'resource has a numbered address')
      }
      return reply.code(201).send(resourceBody(resource))
    },
  )
}

const checkDocuments = async <T extends ResourceType>(
  { kind, documentChecks }: Site<T>,
  projectId: string,
  fields: object,
): Promise<void> => {
  for (const document of kind.documents?.(fields) ?? [])
    await checkStored(documentChecks, projectId, document)
}

const addressText = ({ address: { context, name } }: Resource): string => `/${context}/${name}`

/**
 * The address that a new resource would have by its name, where another resource has that one; else
 * undefined.
 */
const addressTaken = (
  resources: Pick<Resources, 'findByAddress'>,
  resource: Resource,
): string | undefined => {
  const { context, name } = resource.address
  const wanted = /^(.+)-(?:\d{1,2}|[\da-f]{12})$/.exec(name)?.[1]
  const isNumbered =
    wanted !== undefined &&
    slugOf(resource.displayName) !== name &&
    resources.findByAddress(resource.projectId, context, wanted) !== undefined
  return isNumbered ? `/${context}/${wanted}` : undefined
}

const readRoute = <T extends ResourceType>(at: Site<T>): void => {
  const { site, resources, kind, base, onRequest, describe } = at
  site.get<ById>(
    `${base}/:id`,
    {
      onRequest,
      schema: { ...describe('get', `Get a ${kind.title}`), params: idParams, response: { 200: at.schema } },
    },
    async ({ projectId, params }) => resourceBody(findResource(resources, projectId, kind.type, params.id)),
  )
}

const changeRoute = <T extends ResourceType>(at: Site<T>, method: 'PUT' | 'PATCH'): void => {
  const { site, resources, kind, base, onRequest, describe } = at
  const verb = method === 'PUT' ? 'update' : 'patch'
  site.route<ById & { Body: Body }>({
    method,
    url: `${base}/:id`,
    onRequest,
    bodyLimit,
    schema: {
      ...describe(verb, `Change a ${kind.title}; omitted fields keep their values`),
      params: idParams,
      body: bodySchema(kind.properties, []),
      response: { 200: at.schema },
    },
    handler: async ({ projectId, params, body }) => {
      findResource(resources, projectId, kind.type, params.id)
      const { address: place, ...fields } = body
      await checkDocuments(at, projectId, fields)
      // Another request may have changed the resource, or removed it, during the checks.
      const present: Resource<T> = findResource(resources, projectId, kind.type, params.id)
      const change = {
        ...kind.change(fields, present, typesOf(resources, projectId)),
        ...placeOf(place),
      } as ResourceChange<T>
      return resourceBody(await resources.update(projectId, kind.type, params.id, change))
    },
  })
}

const removeRoute = <T extends ResourceType>(at: Site<T>): void => {
  const { site, resources, kind, base, onRequest, describe } = at
  site.delete<ById>(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        ...describe('delete', `Delete a ${kind.title}`),
        params: idParams,
        response: { 204: emptyBody },
      },
    },
    async ({ projectId, params }, reply) => {
      await removeResource(resources, findResource(resources, projectId, kind.type, params.id))
      return reply.code(204).send()
    },
  )
}

const addressRoute = <T extends ResourceType>(at: Site<T>): void => {
  const { site, resources, kind, base, onRequest, describe } = at
  site.get<ById & Paged>(
    `${base}/:id/addresses`,
    {
      onRequest,
      schema: { ...describe('list_addresses', `The address of a ${kind.title}`), ...addressList },
    },
    async ({ projectId, params, query, url }) =>
      addressPage(findResource(resources, projectId, kind.type, params.id), url, query),
  )
}

/** Schemas of routes that answer with {@link addressPage}. */
export const addressList = {
  params: idParams,
  querystring: { type: 'object', properties: pagingQuery },
  response: { 200: listSchema(addressSchema) },
} as const

/** The list of the one address that a resource has. */
export const addressPage = (resource: Resource, url: string, query: Paged['Querystring']) => {
  const { number, size } = pageOf(query)
  const items = [resource].slice(number * size, (number + 1) * size)
  return listBody({ items, total: 1 }, url.split('?', 1)[0] ?? url, query, addressBody)
}
