import { senderOf } from '@trunkline/sip-agent/networks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OAuth } from '../../auth/oauth/oauth.ts'
import { oauthPaths } from '../../auth/oauth/paths.ts'
import type { PasswordSignIn } from '../requests/password-sign-in.ts'
import { pageHeaders, providerPages } from './oauth-pages.ts'
import { signInRoutes } from './oauth-sign-in.ts'
import { asTls, requireTls } from './oauth-tls.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False if the route answers CORS requests itself. */
    cors?: false
  }
}

/** Collaborators of the routes of OAuth. */
export interface OAuthDeps {
  readonly oauth: OAuth
  readonly signIn: PasswordSignIn
}

const { authorization, signOut, token, revocation, keys } = oauthPaths
const metadata = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']

/**
 * Methods that oidc-provider handles. It also answers CORS preflights, depending on the requesting client.
 */
const routes: Readonly<Record<'GET' | 'POST' | 'OPTIONS', readonly string[]>> = {
  GET: [authorization, `${authorization}/:uid`, signOut, `${signOut}/success`, keys, ...metadata],
  POST: [token, revocation, `${signOut}/confirm`],
  OPTIONS: [token, revocation, keys, ...metadata],
}

/** Endpoints of the authorization server, and the pages on which subscribers sign in. TLS is required. */
export const oauthRoutes = async (site: FastifyInstance, { oauth, signIn }: OAuthDeps): Promise<void> => {
  await site.register(async (scope) => {
    scope.addHook('onRequest', requireTls(oauth.issuer))
    scope.addHook('onRequest', limited(oauth))
    await scope.register(async (inner) => providerRoutes(inner, oauth))
    await scope.register(async (inner) => signInRoutes(inner, oauth, signIn))
  })
}

const providerRoutes = (scope: FastifyInstance, { provider, issuer }: OAuth): void => {
  // oidc-provider reads bodies itself.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
  const answer = provider.callback()
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack()
    for (const [name, value] of Object.entries({ ...pageHeaders(undefined), 'x-request-id': request.id }))
      reply.raw.setHeader(name, value)
    await answer(asTls(request.raw, issuer), reply.raw)
  }
  for (const [method, urls] of Object.entries(routes))
    for (const url of urls)
      scope.route({
        method,
        url,
        config: { cors: false },
        schema: { hide: true },
        handler,
        exposeHeadRoute: false,
      })
}

/** Limits requests. Browsers receive a page, applications an error of RFC 6749 section 5.2. */
const limited =
  (oauth: OAuth) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const waitMs = request.method === 'OPTIONS' ? 0 : oauth.requests.take(senderOf(request.ip))
    if (waitMs === 0) return undefined
    oauth.refused('too_many_requests')
    const seconds = Math.ceil(waitMs / 1000)
    const description = `There were too many requests. Try again in ${seconds} seconds.`
    reply.code(429).header('retry-after', seconds)
    const error = 'temporarily_unavailable'
    if (request.url.startsWith('/oauth/')) return reply.send({ error, error_description: description })
    reply.headers(pageHeaders("'none'")).type('text/html; charset=utf-8')
    return reply.send(providerPages.failed(error, description))
  }
