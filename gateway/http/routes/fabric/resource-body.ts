import type { Resource, ResourceType } from '../../../directory/model/resource-types.ts'
import { timeText } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'
import { detailsBody, kinds } from './resource-kinds.ts'

/** Returns a resource for responses: common fields, and those of its kind under the name of its type. */
export const resourceBody = (resource: Resource) => ({
  id: resource.id,
  project_id: resource.projectId,
  display_name: resource.displayName,
  type: resource.type,
  address: `/${resource.address.context}/${resource.address.name}`,
  managed_by: resource.managedByFile ? 'file' : 'api',
  created_at: timeText(resource.createdAt),
  updated_at: timeText(resource.updatedAt),
  [resource.type]: { id: resource.id, ...detailsBody(resource) },
})

const common = {
  id: { type: 'string' },
  project_id: { type: 'string' },
  display_name: { type: 'string' },
  type: { type: 'string' },
  address: { type: 'string' },
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string', format: 'date-time' },
  updated_at: { type: 'string', format: 'date-time' },
} as const

const own = ({ type, answer }: ResourceKind) => ({
  [type]: { type: 'object', properties: { id: { type: 'string' }, ...answer } },
})

/** Schema of a resource of one kind. */
export const schemaOf = (kind: ResourceKind) => ({
  type: 'object',
  required: [...Object.keys(common), kind.type],
  properties: { ...common, ...own(kind) },
})

/** Schema of a resource of any kind. */
export const anySchema = {
  type: 'object',
  required: Object.keys(common),
  properties: {
    ...common,
    ...Object.assign(
      {},
      ...(Object.keys(kinds) as ResourceType[]).map((type) => own(kinds[type] as ResourceKind)),
    ),
  },
}
