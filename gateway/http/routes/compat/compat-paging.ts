import { createHash } from 'node:crypto'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Listed, ListPage } from '../../../directory/model/resource-types.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import type { CompatRequest } from './form-routes.ts'

/** Query parameters of the family's lists, for schemas of routes. */
export const pagingQuery = {
  Page: { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 },
  PageSize: { type: 'integer', minimum: 1, maximum: 1_000, default: 50 },
  PageToken: { type: 'string', maxLength: 64 },
} as const

/** Validated {@link pagingQuery}. */
export type Paging = ValidatedFields<typeof pagingQuery>

/**
 * Returns the requested page. A token takes precedence over the number. Throws `invalid_field` if the token
 * is of another list or project.
 */
export const pageOf = ({ query, projectId, path }: CompatRequest<unknown, Paging>): ListPage => {
  const { Page, PageSize, PageToken } = query
  if (PageToken === undefined) return { number: Page, size: PageSize }
  const number = Number(/^PA(\d{1,7})\./.exec(PageToken)?.[1])
  if (PageToken === tokenOf(number, projectId, path)) return { number, size: PageSize }
  throw new TrunklineError('invalid_field', 'PageToken: expected one of this list.', {
    attribute: 'PageToken',
  })
}

/** Returns the response for a page of a list, whose items are under `key`. */
export const pageBody = <T>(
  request: CompatRequest<unknown, Paging>,
  key: string,
  { items, total }: Listed<T>,
  body: (item: T) => object,
) => {
  const { number, size } = pageOf(request)
  const link = (to: number): string => {
    const query = new URLSearchParams(request.search)
    query.set('Page', String(to))
    query.set('PageSize', String(size))
    query.delete('PageToken')
    if (to > 0) query.set('PageToken', tokenOf(to, request.projectId, request.path))
    return `${request.path}?${query}`
  }
  const last = Math.max(0, Math.ceil(total / size) - 1)
  return {
    page: number,
    page_size: size,
    uri: link(number),
    first_page_uri: link(0),
    next_page_uri: number < last ? link(number + 1) : null,
    previous_page_uri: number > 0 ? link(Math.min(number - 1, last)) : null,
    [key]: items.map(body),
  }
}

/** Schema of a {@link pageBody}. */
export const pageSchema = (key: string, item: object) => ({
  type: 'object',
  properties: {
    page: { type: 'integer' },
    page_size: { type: 'integer' },
    uri: { type: 'string' },
    first_page_uri: { type: 'string' },
    next_page_uri: { type: ['string', 'null'] },
    previous_page_uri: { type: ['string', 'null'] },
    [key]: { type: 'array', items: item },
  },
})

const tokenOf = (page: number, projectId: string, path: string): string => {
  const list = path.slice(path.indexOf('/Accounts/')).replace(/\.json$/, '')
  const digest = createHash('sha256').update(`${projectId}\n${list}\n${page}`).digest('hex')
  return `PA${page}.${digest.slice(0, 32)}`
}
