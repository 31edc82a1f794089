import type { FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from 'fastify'
import { pathOf } from '../../../core/web/request-path.ts'
import type { Listed } from '../../../directory/model/resource-types.ts'
import { listBody, type pagingQuery } from '../../requests/paging.ts'
import type { TypedRequest, TypedSite } from '../../requests/typed-routes.ts'
import { emptyBody, idParams, listSchema } from './route-schemas.ts'

/** Collection of items under one path. */
export interface CollectionOptions<Row, Params, ItemParams> {
  readonly path: string
  /** Path of one item, below the path of the collection; default `:id`. */
  readonly itemPath?: string
  /** Schema of the parameters in the path of the collection; default none. */
  readonly params?: Params
  /** Schema of the parameters in the path of an item; default {@link idParams}. */
  readonly itemParams?: ItemParams
  /** Hook that authenticates the request. */
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Maximum bytes of a body; default: the limit of the site. */
  readonly bodyLimit?: number
  /** Schema of an item in responses. */
  readonly schema: object
  /** Returns an item for responses. */
  readonly show: (row: Row) => object
}

/** Schema of a query with the parameters of a page. */
interface PagedQuery {
  readonly properties: typeof pagingQuery
}

type Description = Pick<FastifySchema, 'tags' | 'summary' | 'operationId'>
type Result<T> = T | Promise<T>

/** Adds the routes of a collection to a site: list, create, read, change and remove. */
export class CollectionRoutes<Row, Params = unknown, ItemParams = typeof idParams> {
  readonly #site: TypedSite
  readonly #options: CollectionOptions<Row, Params, ItemParams>
  readonly #itemUrl: string

  constructor(site: TypedSite, options: CollectionOptions<Row, Params, ItemParams>) {
    this.#site = site
    this.#options = options
    this.#itemUrl = `${options.path}/${options.itemPath ?? ':id'}`
  }

  /** `GET` of the collection, in pages. */
  list<const Query extends PagedQuery>(
    description: Description,
    querystring: Query,
    read: (request: TypedRequest<Params, Query>) => Result<Listed<Row>>,
  ): void {
    const { path, params, schema, show } = this.#options
    this.#route<TypedRequest<Params, Query>>({
      method: 'GET',
      url: path,
      schema: {
        ...description,
        ...(params && { params }),
        querystring,
        response: { 200: listSchema(schema) },
      },
      handler: async (request) => {
        const at = params ? pathOf(request.url) : path
        return listBody(await read(request), at, request.query, show)
      },
    })
  }

  /** `POST` to the collection. */
  create<const Body>(
    description: Description,
    body: Body,
    create: (request: TypedRequest<Params, unknown, Body>) => Promise<Row>,
  ): void {
    const { schema, show } = this.#options
    this.#post<Body>(description, body, schema, async (request, reply) => {
      const row = await create(request)
      return reply.code(201).send(show(row))
    })
  }

  /** `POST` to the collection whose response, with this schema, has a secret that no other response shows. */
  createWithSecret<const Body>(
    description: Description,
    body: Body,
    response: object,
    create: (request: TypedRequest<Params, unknown, Body>) => Promise<object>,
  ): void {
    this.#post<Body>(description, body, response, async (request, reply) => {
      const made = await create(request)
      return reply.code(201).header('cache-control', 'no-store').send(made)
    })
  }

  /** `GET` of an item. */
  read(description: Description, read: (request: TypedRequest<ItemParams>) => Result<Row>): void {
    const { schema, show } = this.#options
    this.#route<TypedRequest<ItemParams>>({
      method: 'GET',
      url: this.#itemUrl,
      schema: { ...description, params: this.#itemParams, response: { 200: schema } },
      handler: async (request) => show(await read(request)),
    })
  }

  /** `PUT` or `PATCH` of an item. */
  change<const Body>(
    method: 'PUT' | 'PATCH',
    description: Description,
    body: Body,
    change: (request: TypedRequest<ItemParams, unknown, Body>) => Promise<Row>,
  ): void {
    const { bodyLimit, schema, show } = this.#options
    this.#route<TypedRequest<ItemParams, unknown, Body>>({
      method,
      url: this.#itemUrl,
      ...(bodyLimit && { bodyLimit }),
      schema: { ...description, params: this.#itemParams, body, response: { 200: schema } },
      handler: async (request) => show(await change(request)),
    })
  }

  /** `PUT` and `PATCH` of an item, which both keep the values of omitted fields. */
  update<const Body>(
    describe: (verb: 'update' | 'patch') => Description,
    body: Body,
    change: (request: TypedRequest<ItemParams, unknown, Body>) => Promise<Row>,
  ): void {
    this.change('PUT', describe('update'), body, change)
    this.change('PATCH', describe('patch'), body, change)
  }

  /** `DELETE` of an item. */
  remove(description: Description, remove: (request: TypedRequest<ItemParams>) => Promise<unknown>): void {
    this.#route<TypedRequest<ItemParams>>({
      method: 'DELETE',
      url: this.#itemUrl,
      schema: { ...description, params: this.#itemParams, response: { 204: emptyBody } },
      handler: async (request, reply) => {
        await remove(request)
        return reply.code(204).send()
      },
    })
  }

  #post<Body>(
    description: Description,
    body: Body,
    response: object,
    handler: (request: TypedRequest<Params, unknown, Body>, reply: FastifyReply) => Promise<unknown>,
  ): void {
    const { path, params, bodyLimit } = this.#options
    this.#route<TypedRequest<Params, unknown, Body>>({
      method: 'POST',
      url: path,
      ...(bodyLimit && { bodyLimit }),
      schema: { ...description, ...(params && { params }), body, response: { 201: response } },
      handler,
    })
  }

  get #itemParams(): object {
    return this.#options.itemParams ?? idParams
  }

  /** Registers a route. The type assertion is safe, because the schema has validated the request. */
  #route<Request>(
    route: Omit<RouteOptions, 'handler'> & {
      readonly handler: (request: Request, reply: FastifyReply) => Promise<unknown>
    },
  ): void {
    this.#site.route({ ...route, onRequest: this.#options.onRequest } as unknown as RouteOptions)
  }
}
