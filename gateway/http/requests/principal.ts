import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../directory/model/scopes.ts'
import type { Bearer } from './bearer-auth.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Project that sends the request, set by {@link RequireProject}; empty on routes without that hook. */
    projectId: string
    /** Id of the API token; empty on routes that require no API token. */
    apiTokenId: string
    /** Sender that a subscriber access token identifies; null on routes that do not require such a token. */
    bearer: Bearer | null
  }
}

/**
 * Returns the `onRequest` hook of a route for projects. It requires Basic auth (RFC 7617) with the project's
 * id, and an API token that has the scope. Throws `unauthorized`, `insufficient_scope` or
 * `too_many_requests`.
 */
export type RequireProject = (scope: Scope) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Adds fields to the requests of a site, which authentication hooks set. */
export const usePrincipals = (site: FastifyInstance): void => {
  site.decorateRequest('projectId', '')
  site.decorateRequest('apiTokenId', '')
  site.decorateRequest('bearer', null)
}
