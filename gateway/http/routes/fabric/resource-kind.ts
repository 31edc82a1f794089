import type {
  NewResource,
  Resource,
  ResourceChange,
  ResourceType,
} from '../../../directory/resource-types.ts'
import type { StoredDocument } from '../shared/document-checks.ts'
import type { Properties } from '../shared/field-schemas.ts'
import type { TypeOf } from '../shared/resource-lookup.ts'

/**
 * Form of one kind of resource in the API: as shown, and as given to make one. Methods throw `invalid_field`.
 */
export interface ResourceKind<T extends ResourceType = ResourceType, Body extends object = object> {
  readonly type: T
  /** Below `/api/fabric/resources`. */
  readonly path: string
  /** In summaries and operation ids: `SIP endpoint`. */
  readonly title: string
  /** Of the body of POST, PUT and PATCH. */
  readonly properties: Properties
  /** What POST must have. */
  readonly required: readonly string[]
  /** Of the object that answers have under the name of the type. */
  readonly answer: Properties
  /** The documents in a body; the route checks them before `create` or `change`. Absent: none. */
  documents?(body: Partial<Body>): readonly StoredDocument[]
  /** Reads the body of a POST. */
  create(body: Body, typeOf: TypeOf): Omit<NewResource<T>, 'projectId' | 'type' | 'context'>
  /** Reads the body of a PUT or PATCH; what it does not name stays. */
  change(body: Body, present: Resource<T>, typeOf: TypeOf): ResourceChange<T>
  /** The object that answers have under the name of the type, without its id. */
  show(resource: Resource<T>): object
}
