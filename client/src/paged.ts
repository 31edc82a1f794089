import { record, text } from './frames.ts'
import type { Query, Rest } from './rest.ts'

/** Page of a list. */
export interface Paged<T> {
  readonly data: readonly T[]
  readonly hasNext: boolean
  readonly hasPrev: boolean
  /** Fetches the next page; undefined after the last. Rejects like the first request. */
  nextPage(): Promise<Paged<T> | undefined>
  /** Fetches the previous page; undefined before the first. */
  prevPage(): Promise<Paged<T> | undefined>
  firstPage(): Promise<Paged<T>>
  /** Fetches this page again. */
  self(): Promise<Paged<T>>
}

/** Fetches a page of a list. Rejects with `auth` or `http`. */
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

// A link may name another host; the token must go to the gateway only.
const pathOf = (link: string): string => {
  const { pathname, search } = new URL(link, 'https://gateway.invalid')
  return pathname + search
}
