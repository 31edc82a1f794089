import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { FlowDetails, ResourceDetails, ResourceType } from '../model/resource-types.ts'

/** Stored form of details: searched values have columns of their own. */
export interface Columns {
  /** Lower case. */
  readonly email?: string
  readonly username?: string
  readonly rest: Readonly<Record<string, unknown>>
}

/** Splits details into columns. The deployed version of a flow is stored with the versions. */
export const columnsOf = (type: ResourceType, details: Partial<ResourceDetails[ResourceType]>): Columns => {
  const { email, username, deployedVersion: _, ...rest } = details as Readonly<Record<string, unknown>>
  return {
    ...(type === 'subscriber' && typeof email === 'string' && { email: email.toLowerCase() }),
    ...(type === 'sip_endpoint' && typeof username === 'string' && { username }),
    rest,
  }
}

/**
 * Returns details with a change; properties that are present and undefined are removed. The version of a
 * flow's working copy increases by one with a change, unless a higher version is given. Throws
 * `invalid_field`.
 */
export const merged = (
  type: ResourceType,
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const after = { ...before, ...change }
  if (type !== 'call_flow') return after
  const was = before as unknown as FlowDetails
  if (typeof change.version === 'number') {
    if (change.version > was.version) return after
    throw new TrunklineError(
      'invalid_field',
      `The version must be greater than the current one, ${was.version}.`,
      {
        attribute: 'document_version',
      },
    )
  }
  return after.flow === was.flow && after.script === was.script
    ? { ...after, version: was.version }
    : { ...after, version: was.version + 1 }
}
