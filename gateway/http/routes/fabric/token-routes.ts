import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TokenPairs } from '../../../auth/token-pairs.ts'
import type { Clock } from '../../../core/clock.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { isBasic } from '../../requests/basic-auth.ts'
import type { Authenticate } from '../../requests/bearer-auth.ts'
import { byProject, bySubscriber } from '../../requests/openapi.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { withoutEffect } from '../shared/field-schemas.ts'
import { emptyBody, forProjects, idParams } from '../shared/route-schemas.ts'
import { connectTo, expiry, pairBody, pairSchema, secondsUntil } from './token-fields.ts'
import { subscriberFields, type TokenSubscribers } from './token-subscribers.ts'

/** Collaborators of the routes of subscribers' tokens. */
export interface TokenDeps {
  readonly subscribers: Pick<TokenSubscribers, 'ensure' | 'revokeAll'>
  readonly pairs: Pick<TokenPairs, 'issue' | 'refresh' | 'revoke'>
  readonly requireProject: RequireProject
  readonly authenticate: Authenticate
  readonly clock: Pick<Clock, 'now'>
}

const path = '/api/fabric/subscribers/tokens'

/** Scope of a token that its holder may renew without the project's own token. */
const refreshScope = 'sat:refresh'

/** Routes that issue, renew and revoke tokens of subscribers. */
export const tokenRoutes = (site: TypedSite, deps: TokenDeps): void => {
  issueRoute(site, deps)
  refreshRoute(site, deps)
  revokeRoutes(site, deps)
}

const issueBody = {
  type: 'object',
  required: ['reference'],
  additionalProperties: false,
  properties: {
    ...subscriberFields,
    expire_at: expiry,
    scope: { type: 'string', enum: ['', refreshScope] },
    ch: connectTo,
    ...withoutEffect('application_id', 'fingerprint'),
  },
} as const

const issueRoute = (site: TypedSite, deps: TokenDeps): void => {
  const { subscribers } = deps
  const onRequest = deps.requireProject('subscribers')
  const schema = {
    ...forProjects(
      'tokens',
      'create_subscriber_token',
      'Create a token for a subscriber, and the subscriber if it does not exist',
    ),
    body: issueBody,
    response: { 200: pairSchema({ subscriber_id: { type: 'string' } }) },
  }
  site.post(path, { onRequest, schema }, async ({ projectId, body }, reply) => {
    const seconds = secondsUntil('expire_at', body.expire_at, deps.clock.now())
    const { id } = await subscribers.ensure(projectId, body)
    const scopes = body.scope ? [body.scope] : []
    const terms = { kind: 'subscriber', subscriberId: id, projectId, scopes, connectTo: body.ch } as const
    const pair = await deps.pairs.issue(terms, seconds)
    return withoutCaching(reply).send({ subscriber_id: id, ...pairBody(pair) })
  })
}

const refreshBody = {
  type: 'object',
  required: ['refresh_token'],
  additionalProperties: false,
  properties: { refresh_token: { type: 'string', minLength: 1, maxLength: 256 } },
} as const

const refreshRoute = (site: TypedSite, deps: TokenDeps): void => {
  const { pairs } = deps
  const schema = {
    ...forProjects('tokens', 'refresh_subscriber_token', 'Renew a token; a refresh token is valid once'),
    security: [...byProject, ...bySubscriber],
    body: refreshBody,
    response: { 201: pairSchema() },
  }
  const onRequest = (request: FastifyRequest, reply: FastifyReply) => requireRenewer(deps, request, reply)
  site.post(`${path}/refresh`, { onRequest, schema }, async (request, reply) => {
    const pair = await pairs.refresh(request.body.refresh_token, renewerOf(request))
    // The message gives no reason, so that guesses learn nothing.
    if (!pair)
      throw new TrunklineError('unauthorized', 'The refresh token is not valid.', {
        attribute: 'refresh_token',
      })
    return withoutCaching(reply).code(201).send(pairBody(pair))
  })
}

/** Authenticates the project, or a subscriber whose token may be renewed by its holder. */
const requireRenewer = async (
  { requireProject, authenticate }: TokenDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const { authorization } = request.headers
  if (authorization === undefined || isBasic(authorization))
    return requireProject('subscribers')(request, reply)
  request.bearer = await authenticate(request)
  if (!request.bearer.token.scopes.includes(refreshScope)) throw new TrunklineError('insufficient_scope')
}

const renewerOf = ({ projectId, bearer }: FastifyRequest) =>
  bearer ? { projectId: bearer.token.projectId, subscriberId: bearer.token.subscriberId } : { projectId }

const revokeBody = {
  type: 'object',
  required: ['token'],
  additionalProperties: false,
  properties: { token: { type: 'string', minLength: 1, maxLength: 4096 } },
} as const

const revokeRoutes = (site: TypedSite, deps: TokenDeps): void => {
  const { subscribers } = deps
  const onRequest = deps.requireProject('subscribers')
  const describe = (id: string, summary: string) => ({
    ...forProjects('tokens', id, summary),
    response: { 204: emptyBody },
  })
  site.post(
    `${path}/revoke`,
    {
      onRequest,
      schema: {
        ...describe('revoke_token', 'Revoke a token, or a refresh token with its family'),
        body: revokeBody,
      },
    },
    async ({ projectId, body }, reply) => {
      await deps.pairs.revoke(body.token, projectId)
      return reply.code(204).send()
    },
  )
  site.delete(
    '/api/fabric/subscribers/:id/tokens',
    {
      onRequest,
      schema: {
        ...describe('revoke_subscriber_tokens', 'Revoke every token of a subscriber'),
        params: idParams,
      },
    },
    async ({ projectId, params }, reply) => {
      await subscribers.revokeAll(projectId, params.id)
      return reply.code(204).send()
    },
  )
}

const withoutCaching = (reply: FastifyReply): FastifyReply => reply.header('cache-control', 'no-store')
