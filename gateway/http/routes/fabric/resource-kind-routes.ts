import type { Log } from '../../../core/log.ts'
import { pathOf } from '../../../core/web/request-path.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type {
  NewResource,
  Resource,
  ResourceChange,
  ResourceType,
} from '../../../directory/model/resource-types.ts'
import { slugOf } from '../../../directory/writing/names.ts'
import { listBody, type PageQuery, pageOf, pageQuery, pagingQuery, sliceOf } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { SchemaProperties, TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { type Checks, checkStored } from '../shared/document-checks.ts'
import { address, text } from '../shared/field-schemas.ts'
import { findResource, placeOf, removeResource, typesOf } from '../shared/resource-lookup.ts'
import { forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
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

/** Maximum bytes of a body: a document of the maximum size, most of its characters escaped. */
const bodyLimit = 512 * 1024

const listQuery = { type: 'object', properties: { ...pagingQuery, display_name: text() } } as const

/** Returns a title after its indefinite article. */
const withArticle = (title: string): string => `${/^(?:[aeio]|XML)/.test(title) ? 'an' : 'a'} ${title}`

/** Body of a resource of any kind; the schema of the kind has validated its other fields. */
const bodySchema = (properties: SchemaProperties, required: readonly string[]) => ({
  type: 'object',
  required: [...required],
  additionalProperties: false,
  properties: { ...properties, address },
})

/** Routes of one kind: list, POST, GET, PUT, PATCH, DELETE and the addresses, below `path`. */
export const kindRoutes = <T extends ResourceType>(
  site: TypedSite,
  { resources, documentChecks, requireProject, log }: ResourceDeps,
  kind: ResourceKind<T>,
  path = `/api/fabric/resources/${kind.path}`,
): void => {
  // A kind may be served under several paths, so the path makes operation ids unique.
  const name = path.slice('/api/'.length).replaceAll('/', '_')
  const describe = (verb: string, summary: string) => forProjects(kind.path, `${verb}_${name}`, summary)
  const onRequest = requireProject(kind.type === 'subscriber' ? 'subscribers' : 'resources')
  const find = (projectId: string, id: string): Resource<T> =>
    findResource(resources, projectId, kind.type, id)
  const checkDocuments = async (projectId: string, fields: object): Promise<void> => {
    for (const document of kind.documents?.(fields) ?? [])
      await checkStored(documentChecks, projectId, document)
  }
  const schema = schemaOf(kind as ResourceKind)
  const options = { path, onRequest, bodyLimit, schema, show: resourceBody }
  const routes = new CollectionRoutes<Resource>(site, options)
  routes.list(describe('list', `List every ${kind.title}`), listQuery, ({ projectId, query }) =>
    resources.list(projectId, { ...pageOf(query), types: [kind.type], displayName: query.display_name }),
  )
  routes.create(
    describe('create', `Create ${withArticle(kind.title)}`),
    bodySchema(kind.properties, kind.required),
    async ({ projectId, body }) => {
      const { address: place, ...fields } = body
      await checkDocuments(projectId, fields)
      // The schema has checked that the fields are those of the kind.
      const made = {
        ...kind.create(fields, typesOf(resources, projectId)),
        projectId,
        type: kind.type,
        ...placeOf(place),
      } as unknown
      const resource = await resources.create(made as NewResource<T>)
      if (place === undefined) logNumbered(log, resources, resource)
      return resource
    },
  )
  routes.read(describe('get', `Get ${withArticle(kind.title)}`), ({ projectId, params }) =>
    find(projectId, params.id),
  )
  routes.update(
    (verb) => describe(verb, `Change ${withArticle(kind.title)}; omitted fields keep their values`),
    bodySchema(kind.properties, []),
    async ({ projectId, params, body }) => {
      find(projectId, params.id)
      const { address: place, ...fields } = body
      await checkDocuments(projectId, fields)
      // Another request may have changed the resource, or removed it, during the checks.
      const present = find(projectId, params.id)
      const change = {
        ...kind.change(fields, present, typesOf(resources, projectId)),
        ...placeOf(place),
      } as ResourceChange<T>
      return resources.update(projectId, kind.type, params.id, change)
    },
  )
  routes.remove(describe('delete', `Delete ${withArticle(kind.title)}`), ({ projectId, params }) =>
    removeResource(resources, find(projectId, params.id)),
  )
  const description = describe('list_addresses', `List the addresses of ${withArticle(kind.title)}`)
  site.get(
    `${path}/:id/addresses`,
    { onRequest, schema: { ...description, ...addressList } },
    async ({ projectId, params, query, url }) => addressPage(find(projectId, params.id), url, query),
  )
}

/**
 * Logs the address of a new resource if it has a number because another resource has the address of its name.
 */
const logNumbered = (
  log: ResourceDeps['log'],
  resources: Pick<Resources, 'findByAddress'>,
  resource: Resource,
): void => {
  const { context, name } = resource.address
  const wanted = /^(.+)-(?:\d{1,2}|[\da-f]{12})$/.exec(name)?.[1]
  const isNumbered =
    wanted !== undefined &&
    slugOf(resource.displayName) !== name &&
    resources.findByAddress(resource.projectId, context, wanted) !== undefined
  if (!isNumbered) return
  const { projectId: project, id } = resource
  log.info(
    {
      event: 'resource.numbered',
      project,
      id,
      taken: `/${context}/${wanted}`,
      address: `/${context}/${name}`,
    },
    'address taken, number added to the address of a resource',
  )
}

/** Schemas of routes that answer with {@link addressPage}. */
export const addressList = {
  params: idParams,
  querystring: pageQuery,
  response: { 200: listSchema(addressSchema) },
} as const

/** Returns the list of the one address that a resource has. */
export const addressPage = (resource: Resource, url: string, query: PageQuery) =>
  listBody(sliceOf([resource], pageOf(query)), pathOf(url), query, addressBody)
