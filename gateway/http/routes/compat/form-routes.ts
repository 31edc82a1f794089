import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Log } from '../../../core/log.ts'
import { pathOf } from '../../../core/web/request-path.ts'
import type { Scope } from '../../../directory/scopes.ts'
import { byProject } from '../../requests/openapi.ts'
import type { RequireProject } from '../../requests/principal.ts'

/** Base paths of the family. */
const prefix = '/api/laml/2010-04-01'

/** The largest form: a document of 64 kB, with everything in it percent-encoded, and the rest. */
export const bodyLimit = 256 * 1024

/** A request of the family. */
export interface Asked<Body = unknown, Query = unknown> {
  readonly body: Body
  readonly query: Query
  readonly projectId: string
  /** An id of the path. */
  readonly id: (name: string) => string
  /** As it was asked, without its query. */
  readonly path: string
  /** The query as it was asked. */
  readonly search: string
  /** The account's own path, under the prefix that was asked. */
  readonly base: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Schemas and scope of a route. */
export interface RouteSpec {
  readonly id: string
  readonly summary: string
  readonly scope: Scope
  /** Properties of the form, by their names. */
  readonly body?: Readonly<Record<string, object>>
  readonly required?: readonly string[]
  /** Names with numbers in them. */
  readonly patterns?: Readonly<Record<string, object>>
  /** Parameters that are taken and have no effect. */
  readonly unused?: readonly string[]
  readonly query?: Readonly<Record<string, object>>
  /** Whether it makes something, which 201 says; default false. */
  readonly makes?: boolean
  /** Of the answer; absent: 204. */
  readonly answer?: object
}

/** Registers one route below the prefix. The handler gives the body; undefined: it has answered, or 204. */
export type On = <Body = unknown, Query = unknown>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  spec: RouteSpec,
  handler: (asked: Asked<Body, Query>) => Promise<object | undefined>,
) => void

/** Collaborators for registering routes. */
export interface OnDeps {
  readonly requireProject: RequireProject
  readonly log: Pick<Log, 'debug'>
}

/** Makes {@link On} for a part of the site. */
export const routesOf =
  (site: FastifyInstance, { requireProject, log }: OnDeps): On =>
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
        if (spec.makes) reply.code(201)
        const answer = await handler(askedOf(request, reply) as never)
        if (reply.sent) return reply
        return answer ?? reply.code(204).send()
      },
    }
    const shown = { operationId: spec.id, summary: spec.summary, tags: ['compat'], security: byProject }
    site.route({ ...options, url: `${prefix}${path}`, schema: { ...shown, ...schemaOf(spec, method) } })
  }

const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

const idSchema = { type: 'string', pattern: `^(${uuid}(\\.(wav|mp3))?|Front)$` } as const

const schemaOf = (spec: RouteSpec, method: string): object => ({
  params: paramsSchema,
  ...(spec.query && {
    querystring: { type: 'object', additionalProperties: false, properties: spec.query },
  }),
  ...(method === 'POST' && {
    consumes: ['application/x-www-form-urlencoded'],
    body: bodySchema(spec),
  }),
  response: spec.answer ? { [spec.makes ? 201 : 200]: spec.answer } : { 204: { type: 'null' } },
})

const paramsSchema = {
  type: 'object',
  properties: { account: { type: 'string', maxLength: 200 }, sid: idSchema, part: idSchema },
} as const

const bodySchema = ({ body, required, patterns, unused = [] }: RouteSpec): object => ({
  type: 'object',
  additionalProperties: false,
  ...(required && { required }),
  ...(patterns && { patternProperties: patterns }),
  properties: { ...Object.fromEntries(unused.map((name) => [name, { type: 'string' }])), ...body },
})

/** The account of the path must be the one that asks; another one is as good as none. */
const checkAccount = async (request: FastifyRequest): Promise<void> => {
  if (idOf(request, 'account') !== request.projectId) throw new TrunklineError('unknown_resource')
}

const idOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? ''

const namesIn = (body: unknown): string[] => (typeof body === 'object' && body ? Object.keys(body) : [])

const askedOf = (request: FastifyRequest, reply: FastifyReply): Asked => {
  const path = pathOf(request.originalUrl)
  const [base = ''] = /^.*?\/Accounts\/[^/]+/.exec(path) ?? []
  return {
    request,
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
