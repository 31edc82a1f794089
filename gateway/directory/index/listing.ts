import { pathOf } from '../model/address-path.ts'
import type { Resources } from '../model/ports.ts'
import type { Listed, ListPage, Resource } from '../model/resource-types.ts'
import type { Contents } from './contents.ts'
import type { Entry } from './entry.ts'

type Query = Parameters<Resources['list']>[1]

/** Returns a page of a list. */
export const pageOf = <T>(all: readonly T[], { number, size }: ListPage): Listed<T> => ({
  items: all.slice(number * size, (number + 1) * size),
  total: all.length,
})

/** See `Resources.list`. */
export const listResources = (
  contents: Pick<Contents, 'ofProject'>,
  projectId: string,
  query: Query,
): Listed<Resource> => {
  const matches = matching(query)
  // The entries are already in the order of creation.
  if (query.sortBy !== 'name' && !query.descending)
    return windowOf(contents.ofProject(projectId), matches, query)
  const found: Resource[] = []
  for (const { resource } of contents.ofProject(projectId)) if (matches(resource)) found.push(resource)
  if (query.sortBy === 'name') found.sort(byName)
  if (query.descending) found.reverse()
  return pageOf(found, query)
}

/** Returns one page of the entries without collecting all of them. */
const windowOf = (
  all: Iterable<Entry>,
  matches: (resource: Resource) => boolean,
  { number, size }: ListPage,
): Listed<Resource> => {
  const items: Resource[] = []
  let total = 0
  for (const { resource } of all) {
    if (!matches(resource)) continue
    if (total >= number * size && items.length < size) items.push(resource)
    total++
  }
  return { items, total }
}

const matching = ({ types, displayName, name }: Query): ((resource: Resource) => boolean) => {
  const part = displayName?.toLowerCase()
  return ({ type, displayName: shown, address }) =>
    (!types || types.includes(type)) &&
    (part === undefined || shown.toLowerCase().includes(part)) &&
    (name === undefined || address.name === name || pathOf(address) === name)
}

const byName = ({ address: a }: Resource, { address: b }: Resource): number =>
  a.name === b.name ? compare(a.context, b.context) : compare(a.name, b.name)

/** Compares by code units: locale rules are too slow for a hundred thousand names. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
