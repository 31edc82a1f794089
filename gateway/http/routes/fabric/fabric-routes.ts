import type { ResourceType } from '../../../directory/model/resource-types.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { agentVersionRoutes } from './agent-version-routes.ts'
import { flowVersionRoutes } from './flow-version-routes.ts'
import type { ResourceKind } from './resource-kind.ts'
import { kindRoutes } from './resource-kind-routes.ts'
import { kinds } from './resource-kinds.ts'
import { type AllResourceDeps, resourceRoutes } from './resource-routes.ts'
import { subscriberEndpointRoutes } from './subscriber-endpoint-routes.ts'

/** Routes of resources under `/api/fabric`, with Basic authentication of their project. */
export const fabricRoutes = (site: TypedSite, deps: AllResourceDeps): void => {
  resourceRoutes(site, deps)
  for (const type of Object.keys(kinds) as ResourceType[]) kindRoutes(site, deps, kinds[type] as ResourceKind)
  kindRoutes(site, deps, kinds.subscriber, '/api/fabric/subscribers')
  for (const base of ['/api/fabric/subscribers', '/api/fabric/resources/subscribers'])
    subscriberEndpointRoutes(site, deps, base)
  flowVersionRoutes(site, deps)
  agentVersionRoutes(site, deps)
}
