import { randomBytes } from 'node:crypto'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Contents } from '../index/contents.ts'
import type { NewResource } from '../model/resource-types.ts'

/** Maximum number of numbered names that are tried before a random one. */
const numbered = 20

/**
 * Returns the context and name of a new resource's address. A missing name is derived from the display name
 * so that it is unused; `isTaken` makes part of it random.
 */
export const addressFor = (
  contents: Pick<Contents, 'byAddress'>,
  resource: NewResource,
  isTaken: boolean,
): { readonly context: string; readonly name: string } => {
  const context = checkedName(
    resource.context ?? (resource.type === 'subscriber' ? 'private' : 'public'),
    'context',
  )
  if (resource.name !== undefined) return { context, name: checkedName(resource.name, 'name') }
  const base = slugOf(called(resource)) || resource.type
  const isFree = (name: string) => !contents.byAddress(resource.projectId, { context, name })
  for (let n = isTaken ? numbered : 1; n < numbered; n++) {
    const name = n === 1 ? base : `${base}-${n}`
    if (isFree(name)) return { context, name }
  }
  return { context, name: `${base}-${randomBytes(6).toString('hex')}` }
}

/** Returns a part of an address. Throws `invalid_field` if it is malformed. */
export const checkedName = (text: string, attribute: 'context' | 'name'): string => {
  if (/^[^\s/?#]{1,100}$/.test(text)) return text
  throw new TrunklineError('invalid_field', 'It must have 1 to 100 characters, without blanks, /, ? and #.', {
    attribute,
  })
}

const called = (resource: NewResource): string =>
  resource.type === 'subscriber' ? (resource.details.email.split('@', 1)[0] ?? '') : resource.displayName

/** Maximum number of characters of a display name that are read. */
const maxCalled = 1000

/** Converts a display name to a name for an address. The time is linear in the length of the text. */
export const slugOf = (text: string): string => {
  const slug = text
    .slice(0, maxCalled)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
  let start = 0
  let end = slug.length
  while (start < end && slug[start] === '-') start++
  while (end > start && slug[end - 1] === '-') end--
  return slug.slice(start, end).slice(0, 60)
}
