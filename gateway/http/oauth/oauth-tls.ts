import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Returns a hook that redirects requests without TLS to the issuer. A trusted proxy may terminate TLS and
 * report this in a header.
 */
export const requireTls =
  (issuer: string) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (request.protocol === 'https') return undefined
    if (request.method === 'GET') return reply.redirect(new URL(request.url, issuer).href, 308)
    const body = { error: 'invalid_request', error_description: 'This is only answered over TLS.' }
    return reply.code(400).send(body)
  }

/**
 * Returns the request for oidc-provider with the issuer's host, from which oidc-provider derives URLs. Not
 * every proxy forwards the host that the browser requested.
 */
export const asTls = (request: IncomingMessage, issuer: string): IncomingMessage => {
  request.headers['x-forwarded-proto'] = 'https'
  request.headers.host = new URL(issuer).host
  delete request.headers['x-forwarded-host']
  return request
}
