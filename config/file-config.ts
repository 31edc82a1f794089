import type { configSchema } from './schema/config-schema.ts'
import type { handler, project } from './schema/entry-schemas.ts'
import type { FileValue } from './schema/values.ts'

/** Values of the file after validation by the schema: defaults are present, and durations are still texts. */
export type FileConfig = FileValue<typeof configSchema>

/** Handler of a domain, endpoint or resource, with the values of the file. */
export type FileHandler = FileValue<ReturnType<typeof handler>>

/** Additional project, with the values of the file. */
export type FileProject = FileValue<typeof project>

/** Returns the name in a subscriber's address. */
export const subscriberName = ({ email, name }: FileConfig['subscribers'][number]): string =>
  name ?? email.split('@', 1)[0] ?? ''

/** Returns the name in an endpoint's address. */
export const endpointName = ({ username, name }: FileConfig['endpoints'][number]): string => name ?? username
