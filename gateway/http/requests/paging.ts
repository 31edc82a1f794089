import type { Listed, ListPage } from '../../directory/model/resource-types.ts'
import type { ValidatedFields } from './typed-routes.ts'

/** Query parameters of lists. `page_token` is another name of `page_number`, and takes precedence. */
export const pagingQuery = {
  page_number: { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 },
  page_size: { type: 'integer', minimum: 1, maximum: 1_000, default: 50 },
  page_token: { type: 'string', pattern: '^[0-9]{1,6}$' },
} as const

/** Parsed {@link pagingQuery}. */
export type PageQuery = ValidatedFields<typeof pagingQuery>

/** Schema of the query of a list without filters. */
export const pageQuery = { type: 'object', properties: pagingQuery } as const

/** Returns the page that a query requests. */
export const pageOf = ({ page_number, page_size, page_token }: PageQuery): ListPage => ({
  number: page_token === undefined ? page_number : Number(page_token),
  size: page_size,
})

/** Returns one page of a list that is in memory. */
export const sliceOf = <T>(all: readonly T[], { number, size }: ListPage): Listed<T> => ({
  items: all.slice(number * size, (number + 1) * size),
  total: all.length,
})

/**
 * Returns the response body for one page of a list, with links to other pages. `path` and `query`: path and
 * query of the request. `body`: converts an item to its JSON form.
 */
export const listBody = <T>(
  { items, total }: Listed<T>,
  path: string,
  query: Readonly<Record<string, unknown>> & PageQuery,
  body: (item: T) => object,
) => {
  const { number, size } = pageOf(query)
  const last = Math.max(0, Math.ceil(total / size) - 1)
  const link = (to: number) => {
    const given = Object.entries({ ...query, page_number: to, page_token: undefined }).filter(
      ([, value]) => value !== undefined,
    )
    const pairs = given.map(([key, value]): [string, string] => [key, String(value)])
    return `${path}?${new URLSearchParams(pairs)}`
  }
  return {
    data: items.map(body),
    links: {
      self: link(number),
      first: link(0),
      ...(number < last && { next: link(number + 1) }),
      ...(number > 0 && { prev: link(Math.min(number - 1, last)) }),
    },
  }
}
