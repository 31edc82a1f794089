import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Sends browsers that came without TLS to the issuer, and takes nothing else from them. A trusted proxy that
 * ends the TLS says so.
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
 * As oidc-provider is to see a request: where the issuer is, in place of what the headers say. It makes URLs
 * of that, and not every proxy passes on the host that the browser asked.
 */
export const asTls = (request: IncomingMessage, issuer: string): IncomingMessage => {
  request.headers['x-forwarded-proto'] = 'https'
  request.headers.host = new URL(issuer).host
  delete request.headers['x-forwarded-host']
  return request
}
