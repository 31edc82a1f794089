import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { CarrierEntry, CarrierRecord, ProjectCarriers } from '../../directory/model/ports.ts'
import type { CarrierHealth } from '../../operator/carrier-health.ts'
import { pageOf, pageQuery } from '../requests/paging.ts'
import type { RequireProject } from '../requests/principal.ts'
import type { TypedSite } from '../requests/typed-routes.ts'
import { CollectionRoutes } from './shared/collection-routes.ts'
import { forProjects } from './shared/route-schemas.ts'

/** Collaborators of the routes of carriers. */
export interface CarrierDeps {
  readonly carriers: ProjectCarriers
  /**
   * Returns the health of a carrier by its name in logs and metrics; undefined if the gateway cannot use it.
   */
  readonly carrierHealth: (name: string) => CarrierHealth | undefined
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

const state = {
  type: 'string',
  enum: ['up', 'down', 'unknown'],
  description: 'From pings. `unknown` until a ping has shown it, and without `probe`.',
} as const

const health = {
  type: ['object', 'null'],
  description: 'Health at the gateway that answers; null if the gateway cannot use the carrier.',
  required: ['state', 'registration', 'targets'],
  properties: {
    state,
    registration: {
      type: ['string', 'null'],
      description: 'State of the registration; null for a carrier without `register`.',
    },
    targets: {
      type: 'array',
      items: {
        type: 'object',
        required: ['uri', 'state', 'since', 'last_ping'],
        properties: {
          uri: { type: 'string' },
          state,
          since: { type: ['string', 'null'], description: 'Time of the last change of the state.' },
          last_ping: {
            type: ['object', 'null'],
            required: ['at', 'status', 'problem'],
            properties: {
              at: { type: 'string' },
              status: { type: ['integer', 'null'], description: 'SIP status; null without a response.' },
              problem: { type: ['string', 'null'] },
            },
          },
        },
      },
    },
  },
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
    health,
    ...fields,
  },
} as const

const describe = (operation: string, summary: string) => forProjects('carriers', operation, summary)

/**
 * `/api/fabric/carriers`: carriers of a project, with the fields of the configuration file. Changes apply to
 * the next call.
 */
export const carrierRoutes = (
  site: TypedSite,
  { carriers, carrierHealth, requireProject }: CarrierDeps,
): void => {
  const path = '/api/fabric/carriers'
  const onRequest = requireProject('resources')
  const show = (record: CarrierRecord) => ({
    ...carrierBody(record),
    health: carrierHealth(runtimeName(record)) ?? null,
  })
  const routes = new CollectionRoutes<CarrierRecord>(site, { path, onRequest, schema, show })
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

/** Returns the name of a carrier in logs and metrics, where those of projects need a prefix. */
const runtimeName = ({ name, projectId, managedByFile }: CarrierRecord): string =>
  managedByFile ? name : `${projectId}/${name}`

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
