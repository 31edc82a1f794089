import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { badField } from './field-schemas.ts'

/** Version of a resource that a request names: by its number, or by its id. */
export interface VersionChoice {
  /** Number of the version, from 1. */
  readonly version?: number | undefined
  readonly id?: string | undefined
  /** Name of the field of {@link id}; that of the number is `document_version`. */
  readonly idField: string
}

/**
 * Returns the version that a request names; undefined if it names none. Throws `invalid_field` if it names
 * both a number and an id.
 */
export const chosenVersion = ({
  version,
  id,
  idField,
}: VersionChoice): number | { readonly id: string } | undefined => {
  if (version !== undefined && id !== undefined)
    throw badField(idField, 'It cannot be combined with document_version.')
  return id === undefined ? version : { id }
}

/**
 * Runs an attempt with a chosen version. Reports an unknown one as a fault of the field, because the resource
 * itself exists.
 */
export const withVersion = async <T>(
  { id, idField }: VersionChoice,
  unknown: string,
  attempt: () => Promise<T>,
): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof TrunklineError) || error.code !== 'unknown_resource') throw error
    throw badField(id === undefined ? 'document_version' : idField, unknown)
  }
}
