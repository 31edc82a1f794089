import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Log } from '../../../core/log.ts'
import { pathOf } from '../../../core/web/request-path.ts'
import type { Scope } from '../../../directory/model/scopes.ts'
import { byProject } from '../../requests/openapi.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { SchemaProperties, TypedSite, ValidatedFields } from '../../requests/typed-routes.ts'

/** Path prefix of the family. */
const prefix = '/api/laml/2010-04-01'

/** Maximum bytes of a form: a document of 64 kB, all of it percent-encoded, and the other parameters. */
export const bodyLimit = 256 * 1024

/** Request of the family. */
export interface CompatRequest<Body = unknown, Query = unknown> {
  readonly body: Body
  readonly query: Query
  readonly projectId: string
  /** Returns an id of the path. */
  readonly id: (name: string) => string
  /** Requested path, without the query. */
  readonly path: string
  /** Requested query. */
  readonly search: string
  /** Path of the account, with the requested prefix. */
  readonly base: string
  readonly reply: FastifyReply
}

/** Schemas and scope of a route. */
export interface RouteSpec<
  Body extends SchemaProperties = SchemaProperties,
  Required = string,
  Query extends SchemaProperties = SchemaProperties,
> {
  readonly id: string
  readonly summary: string
  readonly scope: Scope
  /** Properties of the form. */
  readonly body?: Body
  /** Required properties of the form. */
  readonly required?: readonly Required[]
  /** Properties of the form whose names have numbers. */
  readonly patterns?: SchemaProperties
  /** Accepted parameters without effect. */
  readonly unused?: readonly string[]
  readonly query?: Query
  /** Whether the route creates something and answers 201; default false. */
  readonly isCreating?: boolean
  /** Schema of the response; absent if the route answers 204. */
  readonly answer?: object
}

/**
 * Registers a route below the prefix. The handler returns the body of the response; undefined if it has sent
 * the response itself, or for 204.
 */
export type On = <
  const Body extends SchemaProperties = Record<never, object>,
  const Required = never,
  const Query extends SchemaProperties = Record<never, object>,
>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  spec: RouteSpec<Body, Required, Query>,
  handler: (
    request: CompatRequest<ValidatedFields<Body, Required>, ValidatedFields<Query>>,
  ) => Promise<object | undefined>,
) => void

/** Collaborators for registering routes. */
export interface OnDeps {
  readonly requireProject: RequireProject
  readonly log: Pick<Log, 'debug'>
}

/** Returns the function that registers routes on a site. */
export const routesOf =
  (site: TypedSite, { requireProject, log }: OnDeps): On =>
  (method, path, spec, handler) => {
    const authenticate = requireProject(spec.scope)
    const options: Omit<RouteOptions, 'url'> = {
      method,
      bodyLimit,
      onRequest: [authenticate, checkAccount],
      preValidation: async (request) => {
        if (method === 'POST') request.body ??= {}
        const unused = namesIn(request.body).filter((name) => spec.unused?.includes(name))
        if (unused.length > 0) log.debug({ request: request.id, unused }, 'parameters without effect')
      },
      handler: async (request, reply) => {
        if (spec.isCreating) reply.code(201)
        const answer = await handler(requestOf(request, reply) as never)
        if (reply.sent) return reply
        return answer ?? reply.code(204).send()
      },
    }
    const description = { operationId: spec.id, summary: spec.summary, tags: ['compat'], security: byProject }
    site.route({ ...options, url: `${prefix}${path}`, schema: { ...description, ...schemaOf(spec, method) } })
  }

const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

const idSchema = { type: 'string', pattern: `^(${uuid}(\\.(wav|mp3))?|Front)$` } as const

type AnySpec = RouteSpec<SchemaProperties, unknown>

const schemaOf = (spec: AnySpec, method: string): object => ({
  params: paramsSchema,
  ...(spec.query && {
    querystring: { type: 'object', additionalProperties: false, properties: spec.query },
  }),
  ...(method === 'POST' && {
    consumes: ['application/x-www-form-urlencoded'],
    body: bodySchema(spec),
  }),
  response: spec.answer ? { [spec.isCreating ? 201 : 200]: spec.answer } : { 204: { type: 'null' } },
})

const paramsSchema = {
  type: 'object',
  properties: { account: { type: 'string', maxLength: 200 }, sid: idSchema, part: idSchema },
} as const

const bodySchema = ({ body, required, patterns, unused = [] }: AnySpec): object => ({
  type: 'object',
  additionalProperties: false,
  ...(required && { required }),
  ...(patterns && { patternProperties: patterns }),
  properties: { ...Object.fromEntries(unused.map((name) => [name, { type: 'string' }])), ...body },
})

/** Throws `unknown_resource` if the account of the path is not the authenticated project. */
const checkAccount = async (request: FastifyRequest): Promise<void> => {
  if (idOf(request, 'account') !== request.projectId) throw new TrunklineError('unknown_resource')
}

const idOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? ''

const namesIn = (body: unknown): string[] => (typeof body === 'object' && body ? Object.keys(body) : [])

const requestOf = (request: FastifyRequest, reply: FastifyReply): CompatRequest => {
  const path = pathOf(request.originalUrl)
  const [base = ''] = /^.*?\/Accounts\/[^/]+/.exec(path) ?? []
  return {
    reply,
    path,
    body: request.body,
    query: request.query,
    projectId: request.projectId,
    id: (name) => idOf(request, name),
    search: request.originalUrl.slice(path.length + 1),
    base: base.replace(/\.json$/, ''),
  }
}
