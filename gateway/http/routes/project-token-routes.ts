import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { ApiToken, Projects } from '../../directory/ports.ts'
import { scopes as allScopes, type Scope } from '../../directory/scopes.ts'
import { listBody, pageOf, pagingQuery } from '../requests/paging.ts'
import type { RequireProject } from '../requests/principal.ts'
import { badField, text } from './shared/field-schemas.ts'
import { emptyBody, forProjects, idParams, listSchema } from './shared/route-schemas.ts'

/** Collaborators of the routes of API tokens. */
export interface ProjectTokenDeps {
  readonly projects: Pick<Projects, 'tokens' | 'addToken' | 'changeToken' | 'removeToken'>
  readonly requireProject: RequireProject
  readonly clock: Pick<Clock, 'now'>
}

const path = '/api/project/tokens'

const fields = {
  name: text(100),
  permissions: {
    type: 'array',
    minItems: 1,
    maxItems: allScopes.length,
    uniqueItems: true,
    items: { type: 'string', enum: allScopes },
    description: 'What it may do; nothing that the token of this request may not.',
  },
} as const

const shown = {
  id: { type: 'string' },
  project_id: { type: 'string' },
  name: { type: 'string' },
  permissions: { type: 'array', items: { type: 'string' } },
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string' },
  expires_at: { type: ['string', 'null'] },
} as const

const tokenSchema = { type: 'object', required: Object.keys(shown), properties: shown }
const madeSchema = {
  type: 'object',
  required: [...Object.keys(shown), 'token'],
  properties: { ...shown, token: { type: 'string', description: 'The secret; it is shown this once.' } },
}

const describe = (id: string, summary: string) => forProjects('project tokens', id, summary)

/** The tokens of a project's API. */
export const projectTokenRoutes = (site: FastifyInstance, deps: ProjectTokenDeps): void => {
  listRoute(site, deps)
  createRoute(site, deps)
  changeRoute(site, deps, 'PUT')
  changeRoute(site, deps, 'PATCH')
  removeRoute(site, deps)
}

type Page = {
  readonly page_number: number
  readonly page_size: number
}

const listRoute = (site: FastifyInstance, { projects, requireProject }: ProjectTokenDeps): void => {
  const schema = {
    ...describe('list_project_tokens', 'List the tokens of the project'),
    querystring: { type: 'object', properties: pagingQuery },
    response: { 200: listSchema(tokenSchema) },
  }
  const onRequest = requireProject('tokens')
  site.get<{ Querystring: Page }>(path, { onRequest, schema }, async ({ projectId, query }) => {
    const all = projects.tokens(projectId)
    const { number, size } = pageOf(query)
    const items = all.slice(number * size, (number + 1) * size)
    return listBody({ items, total: all.length }, path, query, tokenBody)
  })
}

interface CreateBody {
  readonly name: string
  readonly permissions: readonly Scope[]
  readonly expires_at?: string
}

const createRoute = (site: FastifyInstance, { projects, requireProject, clock }: ProjectTokenDeps): void => {
  const schema = {
    ...describe('create_project_token', 'Make a token; its secret is shown once'),
    body: {
      type: 'object',
      required: ['name', 'permissions'],
      additionalProperties: false,
      properties: { ...fields, expires_at: { type: 'string', format: 'date-time', maxLength: 40 } },
    },
    response: { 201: madeSchema },
  }
  const onRequest = requireProject('tokens')
  site.post<{ Body: CreateBody }>(path, { onRequest, schema }, async (request, reply) => {
    const { name, permissions: scopes, expires_at: end } = request.body
    checkScopes(projects, request, scopes)
    const own = ownOf(projects, request)?.expiresAt
    const expiresAt = end === undefined ? own : Date.parse(end)
    if (expiresAt !== undefined && !(expiresAt > clock.now()))
      throw badField('expires_at', 'expires_at is in the past.')
    if (own !== undefined && expiresAt !== undefined && expiresAt > own)
      throw badField('expires_at', 'expires_at is after the end of the token of the request.')
    const wanted = { name, scopes, ...(expiresAt !== undefined && { expiresAt }) }
    const { token, secret } = await projects.addToken(request.projectId, wanted)
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...tokenBody(token), token: secret })
  })
}

interface ById {
  readonly Params: { readonly id: string }
}

interface ChangeBody {
  readonly name?: string
  readonly permissions?: readonly Scope[]
}

const changeRoute = (
  site: FastifyInstance,
  { projects, requireProject }: ProjectTokenDeps,
  method: 'PUT' | 'PATCH',
): void => {
  const verb = method === 'PUT' ? 'update' : 'patch'
  site.route<ById & { Body: ChangeBody }>({
    method,
    url: `${path}/:id`,
    onRequest: requireProject('tokens'),
    schema: {
      ...describe(`${verb}_project_token`, 'Change a token; omitted fields keep their values'),
      params: idParams,
      response: { 200: tokenSchema },
      body: { type: 'object', additionalProperties: false, properties: fields },
    },
    handler: async (request) => {
      const { name, permissions: scopes } = request.body
      const token = tokenFor(projects, request)
      checkScopes(projects, request, [...(scopes ?? []), ...token.scopes])
      const change = { ...(name !== undefined && { name }), ...(scopes && { scopes }) }
      return tokenBody(await projects.changeToken(request.projectId, token.id, change))
    },
  })
}

const removeRoute = (site: FastifyInstance, { projects, requireProject }: ProjectTokenDeps): void => {
  const schema = {
    ...describe('delete_project_token', 'Remove a token'),
    params: idParams,
    response: { 204: emptyBody },
  }
  const onRequest = requireProject('tokens')
  site.delete<ById>(`${path}/:id`, { onRequest, schema }, async (request, reply) => {
    const { id, scopes } = tokenFor(projects, request)
    checkScopes(projects, request, scopes)
    await projects.removeToken(request.projectId, id)
    return reply.code(204).send()
  })
}

type Asked = Pick<FastifyRequest<ById>, 'projectId' | 'params'>

const tokenFor = (projects: Pick<Projects, 'tokens'>, { projectId, params }: Asked): ApiToken => {
  const token = projects.tokens(projectId).find(({ id }) => id === params.id)
  if (!token) throw new TrunklineError('unknown_resource')
  return token
}

/** The token of the request. */
const ownOf = (
  projects: Pick<Projects, 'tokens'>,
  { projectId, apiTokenId }: Pick<FastifyRequest, 'projectId' | 'apiTokenId'>,
): ApiToken | undefined => projects.tokens(projectId).find(({ id }) => id === apiTokenId)

/** Throws if a token would create, change or remove a token with more permissions than its own. */
const checkScopes = (
  projects: Pick<Projects, 'tokens'>,
  request: Pick<FastifyRequest, 'projectId' | 'apiTokenId'>,
  wanted: readonly Scope[],
): void => {
  const own = ownOf(projects, request)?.scopes ?? []
  const missing = wanted.filter((scope) => !own.includes(scope))
  if (missing.length > 0)
    throw new TrunklineError('insufficient_scope', `The token of the request lacks ${missing.join(', ')}.`)
}

const tokenBody = (token: ApiToken) => ({
  id: token.id,
  project_id: token.projectId,
  name: token.name,
  permissions: token.scopes,
  managed_by: token.managedByFile ? 'file' : 'api',
  created_at: new Date(token.createdAt).toISOString(),
  expires_at: token.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString(),
})
