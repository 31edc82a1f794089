import { record, text } from './frames.ts'
import type { Query, Rest } from './rest.ts'

/** One page of a list. */
export interface Paged<T> {
  readonly data: readonly T[]
  readonly hasNext: boolean
  readonly hasPrev: boolean
  /** The page after this one; undefined after the last. Rejects as the first request does. */
  nextPage(): Promise<Paged<T> | undefined>
  /** The page before this one; undefined before the first. */
  prevPage(): Promise<Paged<T> | undefined>
  firstPage(): Promise<Paged<T>>
  /** This page, fetched again. */
  self(): Promise<Paged<T>>
}

/** Fetches the page of a list. Rejects with `auth` or `http`. */
export const fetchPage = async <T>(rest: Rest, path: string, query: Query = {}): Promise<Paged<T>> => {
  const answer = record(await rest.get(path, query))
  const links = record(answer.links)
  const follow = (name: string) => {
    const link = text(links[name])
    return link === undefined ? undefined : fetchPage<T>(rest, pathOf(link))
  }
  return {
    data: Array.isArray(answer.data) ? (answer.data as T[]) : [],
    hasNext: text(links.next) !== undefined,
    hasPrev: text(links.prev) !== undefined,
    nextPage: async () => follow('next'),
    prevPage: async () => follow('prev'),
    firstPage: () => follow('first') ?? fetchPage(rest, path, query),
    self: () => follow('self') ?? fetchPage(rest, path, query),
  }
}

// A link may name the host: the token goes to the gateway all the same, and nowhere else.
const pathOf = (link: string): string => {
  const { pathname, search } = new URL(link, 'https://gateway.invalid')
  return pathname + search
}
