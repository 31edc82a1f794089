import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { Resource, ResourceType } from '../../../directory/model/resource-types.ts'

/**
 * Returns the resource with an id. Throws `unknown_resource`, also for a resource of another kind or project.
 */
export const findResource = <T extends ResourceType>(
  resources: Pick<Resources, 'find'>,
  projectId: string,
  type: T,
  id: string,
): Resource<T> => {
  const resource = resources.find(projectId, type, id)
  if (!resource) throw new TrunklineError('unknown_resource')
  return resource
}

/** Returns the resource with an id, of any kind. Throws `unknown_resource`. */
export const findAnyResource = (
  resources: Pick<Resources, 'find'>,
  projectId: string,
  id: string,
): Resource => {
  const resource = resources.find(projectId, undefined, id)
  if (!resource) throw new TrunklineError('unknown_resource')
  return resource
}

/** Returns the type of a resource of the request's project, or undefined if it does not exist. */
export type TypeOf = (id: string) => ResourceType | undefined

/** Returns a {@link TypeOf} for a project. */
export const typesOf =
  (resources: Pick<Resources, 'find'>, projectId: string): TypeOf =>
  (id) =>
    resources.find(projectId, undefined, id)?.type

/** Returns the context and name of a validated address. */
export const placeOf = (address: string | undefined): { context?: string; name?: string } => {
  const [, context, name] = address?.split('/') ?? []
  return context === undefined || name === undefined ? {} : { context, name }
}

/** Returns the SIP endpoints of a subscriber, oldest first. */
export const endpointsOf = (
  resources: Pick<Resources, 'list'>,
  { projectId, id }: Pick<Resource, 'projectId' | 'id'>,
): readonly Resource<'sip_endpoint'>[] => {
  const all = { number: 0, size: Number.MAX_SAFE_INTEGER, types: ['sip_endpoint'] } as const
  return resources
    .list(projectId, all)
    .items.filter((each): each is Resource<'sip_endpoint'> => each.type === 'sip_endpoint')
    .filter(({ details }) => details.subscriberId === id)
}

/** Removes a resource, and the SIP endpoints of a subscriber with it. Throws `managed_by_file`. */
export const removeResource = async (
  resources: Pick<Resources, 'list' | 'remove'>,
  resource: Resource,
): Promise<void> => {
  const { projectId, type, id } = resource
  const belonging = type === 'subscriber' && !resource.managedByFile ? endpointsOf(resources, resource) : []
  for (const endpoint of belonging) await resources.remove(projectId, 'sip_endpoint', endpoint.id)
  await resources.remove(projectId, type, id)
}
