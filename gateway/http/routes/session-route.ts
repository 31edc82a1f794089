import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Origins } from '../../core/web/origins.ts'
import type { PasswordSignIn, SignedIn } from '../requests/password-sign-in.ts'
import type { TypedSite } from '../requests/typed-routes.ts'

/** Collaborators of {@link sessionRoute}. */
export interface BrowserLoginDeps {
  /** First project, whose subscribers may use the softphone. */
  readonly project: string
  readonly signIn: PasswordSignIn
  readonly tokens: Pick<SubscriberTokens, 'issue'>
  readonly origins: Pick<Origins, 'trusts'>
  readonly log: Pick<Log, 'warn'>
  /** Lifetime of the token. */
  readonly tokenSeconds: number
}

const body = {
  type: 'object',
  required: ['email', 'password'],
  additionalProperties: false,
  properties: {
    email: { type: 'string', minLength: 1, maxLength: 254 },
    password: { type: 'string', minLength: 1, maxLength: 1024 },
  },
} as const

const text = { type: 'string' } as const

const schema = {
  operationId: 'signInAtOwnPage',
  tags: ['console'],
  summary: 'Sign in to the softphone',
  body,
  response: {
    200: {
      description: 'A subscriber access token.',
      type: 'object',
      required: ['token', 'expires_at', 'subscriber'],
      properties: {
        token: text,
        expires_at: { type: 'integer', description: 'Seconds since 1970.' },
        subscriber: {
          type: 'object',
          required: ['id', 'email', 'display_name', 'address'],
          properties: { id: text, email: text, display_name: text, address: text },
        },
      },
    },
  },
} as const

/** Path of the softphone's sign-in. */
export const sessionPath = '/api/console/session'

/**
 * `POST /api/console/session`: exchanges an e-mail address and password for a subscriber access token. Only
 * for the gateway's own pages and origins named in the configuration. Other origins receive 403 before the
 * body is read, so that a page of another origin cannot collect passwords.
 */
export const sessionRoute = (site: TypedSite, deps: BrowserLoginDeps): void => {
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    const { origin, host } = request.headers
    if (deps.origins.trusts(origin, host)) return
    const facts = { code: 'not_permitted', source: request.ip, origin, request: request.id }
    deps.log.warn({ event: 'sign-in.origin-rejected', ...facts }, 'sign-in from another origin rejected')
    throw new TrunklineError('not_permitted', 'Only the gateway’s own page may sign in here.')
  }
  site.post(sessionPath, { onRequest, schema }, async (request, reply) => {
    const signedIn = await deps.signIn.attempt({ projectId: deps.project, ...request.body }, request)
    if (!('subscriber' in signedIn)) throw refusal(signedIn, reply)
    const { subscriber } = signedIn
    const { token, expiresAt } = await deps.tokens.issue(subscriber, deps.tokenSeconds)
    const { id, displayName, address } = subscriber
    reply.header('cache-control', 'no-store')
    return {
      token,
      expires_at: expiresAt,
      subscriber: { id, email: subscriber.email, display_name: displayName, address },
    }
  })
}

const refusal = (
  refused: Exclude<SignedIn, { subscriber: unknown }>,
  reply: FastifyReply,
): TrunklineError => {
  if (refused.refused === 'unauthorized')
    return new TrunklineError('unauthorized', 'The e-mail or the password is wrong.')
  reply.header('retry-after', Math.ceil(refused.waitMs / 1000))
  return new TrunklineError('too_many_requests')
}
