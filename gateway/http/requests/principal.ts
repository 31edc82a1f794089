import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../directory/scopes.ts'
import type { Bearer } from './bearer-auth.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The project that sends the request; set by {@link RequireProject}, and empty on routes without it. */
    projectId: string
    /** The API token that it showed. */
    apiTokenId: string
    /** Who sends it by a subscriber access token; null on routes that ask for none. */
    bearer: Bearer | null
  }
}

/**
 * Makes the `onRequest` hook of a route for projects: Basic auth (RFC 7617), the user being the project's id
 * and the password a token of its API that has the scope. Throws `unauthorized`, `insufficient_scope`,
 * `too_many_requests`.
 */
export type RequireProject = (scope: Scope) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Gives the requests of a site the fields that the hooks of authentication set. */
export const usePrincipals = (site: FastifyInstance): void => {
  site.decorateRequest('projectId', '')
  site.decorateRequest('apiTokenId', '')
  site.decorateRequest('bearer', null)
}
