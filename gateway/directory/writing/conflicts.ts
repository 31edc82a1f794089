import { type Code, TrunklineError } from '../../core/errors/catalogue.ts'

/** Unique constraints: SQLite's text, PostgreSQL's name, the error code, and the field that must change. */
const conflicts: readonly (readonly [sqlite: string, postgres: string, code: Code, attribute: string])[] = [
  ['address.project_id, address.context', 'address_of_project', 'address_taken', 'address'],
  ['subscriber.project_id, subscriber.email', 'subscriber_email', 'email_taken', 'email'],
  ['endpoint.username', 'endpoint_username_key', 'username_taken', 'username'],
  ['domain_app.domain', 'domain_app_domain_key', 'domain_taken', 'identifier'],
  ['carrier.project_id, carrier.name', 'carrier_of_project', 'name_taken', 'name'],
  ['carrier.project_id, carrier.is_default', 'carrier_default', 'invalid_field', 'default'],
]

/** Runs a write. A violation of a unique constraint rejects with its code. */
export const rejectConflicts = async <T>(write: Promise<T>): Promise<T> => {
  try {
    return await write
  } catch (error) {
    const { message = '', constraint } = error as { readonly message?: string; readonly constraint?: string }
    const found = conflicts.find(
      ([sqlite, postgres]) =>
        constraint === postgres || message.startsWith(`UNIQUE constraint failed: ${sqlite}`),
    )
    if (!found) throw error
    const [, , code, attribute] = found
    throw new TrunklineError(code, undefined, { attribute }, error)
  }
}
