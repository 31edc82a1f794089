import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { CarrierEntry, CarrierRecord, ProjectCarriers } from '../../directory/model/ports.ts'
import { pageOf, pageQuery } from '../requests/paging.ts'
import type { RequireProject } from '../requests/principal.ts'
import type { TypedSite } from '../requests/typed-routes.ts'
import { CollectionRoutes } from './shared/collection-routes.ts'
import { forProjects } from './shared/route-schemas.ts'

/** Collaborators of the routes of carriers. */
export interface CarrierDeps {
  readonly carriers: ProjectCarriers
  readonly requireProject: RequireProject
}

/**
 * Fields that every carrier has. The rules of the configuration file check all fields, so the schema names
 * no others.
 */
const fields = {
  name: { type: 'string', description: 'Name, unique in the project.' },
  targets: {
    type: 'array',
    items: { type: 'string' },
    description: 'SIP URIs without a user, tried in this order.',
  },
} as const

const body = {
  type: 'object',
  description: 'An entry of `carriers` as in /schemas/configuration.json, without `project` and `tls`.',
  required: ['name', 'targets'],
  additionalProperties: true,
  properties: fields,
} as const

const schema = {
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
 * `/api/fabric/carriers`: carriers of a project, with the fields of the configuration file. Changes apply to
 * the next call.
 */
export const carrierRoutes = (site: TypedSite, { carriers, requireProject }: CarrierDeps): void => {
  const path = '/api/fabric/carriers'
  const onRequest = requireProject('resources')
  const routes = new CollectionRoutes<CarrierRecord>(site, { path, onRequest, schema, show: carrierBody })
  routes.list(describe('list_carriers', 'List the carriers'), pageQuery, ({ projectId, query }) =>
    carriers.list(projectId, pageOf(query)),
  )
  routes.create(describe('create_carrier', 'Create a carrier'), body, (request) =>
    carriers.create(request.projectId, request.body as CarrierEntry),
  )
  routes.read(describe('get_carrier', 'Get a carrier'), ({ projectId, params }) => {
    const record = carriers.find(projectId, params.id)
    if (!record) throw new TrunklineError('unknown_resource')
    return record
  })
  routes.change(
    'PUT',
    describe('replace_carrier', 'Replace a carrier; an omitted password is kept'),
    body,
    (request) => carriers.replace(request.projectId, request.params.id, request.body as CarrierEntry),
  )
  routes.remove(describe('delete_carrier', 'Delete a carrier; its calls continue'), ({ projectId, params }) =>
    carriers.remove(projectId, params.id),
  )
}

const carrierBody = ({ id, projectId, entry, managedByFile, createdAt, updatedAt }: CarrierRecord) => ({
  ...entry,
  id,
  project_id: projectId,
  managed_by: managedByFile ? 'file' : 'api',
  created_at: time(createdAt),
  updated_at: time(updatedAt),
})

/** Carriers in the configuration file have no time of creation. */
const time = (ms: number): string | null => (ms === 0 ? null : new Date(ms).toISOString())
