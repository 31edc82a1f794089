import type { FastifyInstance } from 'fastify'
import type { ResourceType } from '../../../directory/resource-types.ts'
import { flowVersionRoutes } from './flow-version-routes.ts'
import type { ResourceKind } from './resource-kind.ts'
import { kindRoutes } from './resource-kind-routes.ts'
import { kinds } from './resource-kinds.ts'
import { type AllResourceDeps, resourceRoutes } from './resource-routes.ts'
import { subscriberEndpointRoutes } from './subscriber-endpoint-routes.ts'

/** Everything under `/api/fabric` that keeps resources, by Basic auth of their project. */
export const fabricRoutes = (site: FastifyInstance, deps: AllResourceDeps): void => {
  resourceRoutes(site, deps)
  for (const type of Object.keys(kinds) as ResourceType[]) kindRoutes(site, deps, kinds[type] as ResourceKind)
  kindRoutes(site, deps, kinds.subscriber, '/api/fabric/subscribers')
  for (const base of ['/api/fabric/subscribers', '/api/fabric/resources/subscribers'])
    subscriberEndpointRoutes(site, deps, base)
  flowVersionRoutes(site, deps)
}
