import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { DomainAppRecord, DomainApps, Resources } from '../../../directory/model/ports.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { text } from '../shared/field-schemas.ts'
import { typesOf } from '../shared/resource-lookup.ts'
import { forProjects } from '../shared/route-schemas.ts'
import {
  domainAppBody,
  domainAppChange,
  domainAppSchema,
  newDomainApp,
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

/**
 * Paths of the routes, with the prefix of their operation ids: the path of the public API, and a path next to
 * the other resources.
 */
const paths = {
  '/api/relay/rest/domain_applications': '',
  '/api/fabric/domain_applications': 'fabric_',
} as const

const querystring = {
  type: 'object',
  properties: { ...pagingQuery, filter_name: text(), filter_domain: text() },
} as const

/**
 * `/api/relay/rest/domain_applications` and `/api/fabric/domain_applications`: SIP domains of a project, with
 * the handlers of their calls.
 */
export const domainApplicationRoutes = (site: TypedSite, deps: DomainAppDeps): void => {
  for (const [path, prefix] of Object.entries(paths)) routesAt(site, deps, path, prefix)
}

const routesAt = (
  site: TypedSite,
  { domainApps, resources, requireProject }: DomainAppDeps,
  path: string,
  prefix: string,
): void => {
  const describe = (verb: string, summary: string) =>
    forProjects('domain_applications', `${prefix}${verb}`, summary)
  const find = (projectId: string, id: string): DomainAppRecord => {
    const app = domainApps.find(projectId, id)
    if (!app) throw new TrunklineError('unknown_resource')
    return app
  }
  const routes = new CollectionRoutes<DomainAppRecord>(site, {
    path,
    onRequest: requireProject('resources'),
    schema: domainAppSchema,
    show: (app) => domainAppBody(app, resources),
  })
  routes.list(
    describe('list_domain_applications', 'List the domain applications'),
    querystring,
    ({ projectId, query }) => {
      const { filter_name: name, filter_domain: domain } = query
      return domainApps.list(projectId, { ...pageOf(query), name, domain })
    },
  )
  routes.create(
    describe('create_domain_application', 'Create a domain application'),
    newDomainApp,
    ({ projectId, body }) => {
      const { codecs, ciphers, user = '*', ipAuthEnabled = false, ...own } = ownFields(body)
      const read = readHandler(body, undefined, typesOf(resources, projectId))
      return domainApps.create(projectId, {
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
    },
  )
  routes.read(describe('get_domain_application', 'Get a domain application'), ({ projectId, params }) =>
    find(projectId, params.id),
  )
  routes.remove(
    describe('delete_domain_application', 'Delete a domain application'),
    ({ projectId, params }) => domainApps.remove(projectId, find(projectId, params.id).id),
  )
  routes.update(
    (verb) =>
      describe(`${verb}_domain_application`, 'Change a domain application; omitted fields keep their values'),
    domainAppChange,
    async ({ projectId, params, body }) => {
      const app = find(projectId, params.id)
      const read = readHandler(body, handlerFields(app, resources), typesOf(resources, projectId))
      return domainApps.update(projectId, app.id, { ...ownFields(body), ...read })
    },
  )
}
