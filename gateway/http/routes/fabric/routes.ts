import type { FastifyInstance } from 'fastify'
import type { ResourceType } from '../../../directory/resource-types.ts'
import { flowVersionRoutes } from './flow-versions.ts'
import type { Kind } from './kind.ts'
import { kindRoutes } from './kind-routes.ts'
import { kinds } from './kinds.ts'
import { type AllResourceParts, resourceRoutes } from './resources.ts'
import { subscriberEndpointRoutes } from './subscriber-endpoints.ts'

/** Everything under `/api/fabric` that keeps resources, by Basic auth of their project. */
export const fabricRoutes = (site: FastifyInstance, parts: AllResourceParts): void => {
  resourceRoutes(site, parts)
  for (const type of Object.keys(kinds) as ResourceType[]) kindRoutes(site, parts, kinds[type] as Kind)
  kindRoutes(site, parts, kinds.subscriber, '/api/fabric/subscribers')
  for (const base of ['/api/fabric/subscribers', '/api/fabric/resources/subscribers'])
    subscriberEndpointRoutes(site, parts, base)
  flowVersionRoutes(site, parts)
}
