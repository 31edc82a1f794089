import type {
  NewResource,
  Resource,
  ResourceChange,
  ResourceType,
} from '../../../directory/model/resource-types.ts'
import type { SchemaProperties } from '../../requests/typed-routes.ts'
import type { StoredDocument } from '../shared/document-checks.ts'
import type { TypeOf } from '../shared/resource-lookup.ts'

/** Schemas and conversions of one kind of resource. Methods throw `invalid_field`. */
export interface ResourceKind<T extends ResourceType = ResourceType, Body extends object = object> {
  readonly type: T
  /** Path below `/api/fabric/resources`. */
  readonly path: string
  /** Name in summaries and operation ids, such as `SIP endpoint`. */
  readonly title: string
  /** Properties of the body of POST, PUT and PATCH. */
  readonly properties: SchemaProperties
  /** Required fields of POST. */
  readonly required: readonly string[]
  /** Properties of the response object under the name of the type. */
  readonly answer: SchemaProperties
  /**
   * Returns the documents in a body, which the route checks before `create` or `change`. Absent if the kind
   * has none.
   */
  documents?(body: Partial<Body>): readonly StoredDocument[]
  /** Reads the body of a POST. */
  create(body: Body, typeOf: TypeOf): Omit<NewResource<T>, 'projectId' | 'type' | 'context'>
  /** Reads the body of a PUT or PATCH; omitted fields keep their values. */
  change(body: Body, present: Resource<T>, typeOf: TypeOf): ResourceChange<T>
  /** Returns the response object under the name of the type, without its id. */
  show(resource: Resource<T>): object
}
