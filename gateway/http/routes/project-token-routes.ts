import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { ApiToken, Projects } from '../../directory/model/ports.ts'
import { scopes as allScopes, type Scope } from '../../directory/model/scopes.ts'
import { pageOf, pageQuery, sliceOf } from '../requests/paging.ts'
import type { RequireProject } from '../requests/principal.ts'
import type { TypedSite } from '../requests/typed-routes.ts'
import { CollectionRoutes } from './shared/collection-routes.ts'
import { badField, text, withoutUndefined } from './shared/field-schemas.ts'
import { forProjects } from './shared/route-schemas.ts'

/** Collaborators of the routes of API tokens. */
export interface ProjectTokenDeps {
  readonly projects: Pick<Projects, 'tokens' | 'addToken' | 'changeToken' | 'removeToken'>
  readonly requireProject: RequireProject
  readonly clock: Pick<Clock, 'now'>
}

const fields = {
  name: text(100),
  permissions: {
    type: 'array',
    minItems: 1,
    maxItems: allScopes.length,
    uniqueItems: true,
    items: { type: 'string', enum: allScopes },
    description: 'Scopes of the token. The token of this request must have them, too.',
  },
} as const

const properties = {
  id: { type: 'string' },
  project_id: { type: 'string' },
  name: { type: 'string' },
  permissions: { type: 'array', items: { type: 'string' } },
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string' },
  expires_at: { type: ['string', 'null'] },
} as const

const schema = { type: 'object', required: Object.keys(properties), properties }
const schemaWithSecret = {
  type: 'object',
  required: [...Object.keys(properties), 'token'],
  properties: {
    ...properties,
    token: { type: 'string', description: 'Secret of the token, which is shown once.' },
  },
}

const createBody = {
  type: 'object',
  required: ['name', 'permissions'],
  additionalProperties: false,
  properties: { ...fields, expires_at: { type: 'string', format: 'date-time', maxLength: 40 } },
} as const

const changeBody = { type: 'object', additionalProperties: false, properties: fields } as const

const describe = (id: string, summary: string) => forProjects('project tokens', id, summary)

/** API tokens of a project. */
export const projectTokenRoutes = (
  site: TypedSite,
  { projects, requireProject, clock }: ProjectTokenDeps,
): void => {
  const path = '/api/project/tokens'
  const onRequest = requireProject('tokens')
  const routes = new CollectionRoutes<ApiToken>(site, { path, onRequest, schema, show: tokenBody })
  routes.list(
    describe('list_project_tokens', 'List the tokens of the project'),
    pageQuery,
    ({ projectId, query }) => sliceOf(projects.tokens(projectId), pageOf(query)),
  )
  routes.createWithSecret(
    describe('create_project_token', 'Create a token; its secret is shown once'),
    createBody,
    schemaWithSecret,
    async (request) => {
      const { name, permissions: scopes, expires_at: end } = request.body
      checkScopes(projects, request, scopes)
      const own = tokenOf(projects, request)?.expiresAt
      const expiresAt = end === undefined ? own : Date.parse(end)
      if (expiresAt !== undefined && !(expiresAt > clock.now()))
        throw badField('expires_at', 'expires_at is in the past.')
      if (own !== undefined && expiresAt !== undefined && expiresAt > own)
        throw badField('expires_at', 'expires_at is after the end of the token of the request.')
      const wanted = withoutUndefined({ name, scopes, expiresAt })
      const { token, secret } = await projects.addToken(request.projectId, wanted)
      return { ...tokenBody(token), token: secret }
    },
  )
  routes.update(
    (verb) => describe(`${verb}_project_token`, 'Change a token; omitted fields keep their values'),
    changeBody,
    async (request) => {
      const { name, permissions: scopes } = request.body
      const token = findToken(projects, request.projectId, request.params.id)
      checkScopes(projects, request, [...(scopes ?? []), ...token.scopes])
      return projects.changeToken(request.projectId, token.id, withoutUndefined({ name, scopes }))
    },
  )
  routes.remove(describe('delete_project_token', 'Delete a token'), async (request) => {
    const { id, scopes } = findToken(projects, request.projectId, request.params.id)
    checkScopes(projects, request, scopes)
    await projects.removeToken(request.projectId, id)
  })
}

const findToken = (projects: Pick<Projects, 'tokens'>, projectId: string, id: string): ApiToken => {
  const token = projects.tokens(projectId).find((each) => each.id === id)
  if (!token) throw new TrunklineError('unknown_resource')
  return token
}

/** Returns the token with which a request is authenticated. */
const tokenOf = (
  projects: Pick<Projects, 'tokens'>,
  { projectId, apiTokenId }: Pick<FastifyRequest, 'projectId' | 'apiTokenId'>,
): ApiToken | undefined => projects.tokens(projectId).find(({ id }) => id === apiTokenId)

/**
 * Throws `insufficient_scope` if a token is used to create, change or remove a token that has more
 * permissions.
 */
const checkScopes = (
  projects: Pick<Projects, 'tokens'>,
  request: Pick<FastifyRequest, 'projectId' | 'apiTokenId'>,
  wanted: readonly Scope[],
): void => {
  const own = tokenOf(projects, request)?.scopes ?? []
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
