import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SubscriberTokens } from '../../auth/tokens.ts'
import type { Directory } from '../../directory/types.ts'
import { TrunklineError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type Attempts, networkKey } from '../attempts.ts'
import type { Origins } from '../origins.ts'

/** What signing in needs. */
export interface SessionParts {
  readonly directory: Pick<Directory, 'signIn'>
  readonly tokens: Pick<SubscriberTokens, 'issue'>
  readonly origins: Pick<Origins, 'trusts'>
  readonly log: Pick<Log, 'warn' | 'info'>
  /** Attempts of one network address, and attempts on one e-mail. */
  readonly perAddress: Attempts
  readonly perEmail: Attempts
  /** How long the page's token is valid. */
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

interface Body {
  readonly email: string
  readonly password: string
}

/** Where our own page signs in. */
export const sessionPath = '/api/console/session'

/**
 * `POST /api/console/session`: e-mail and password for a subscriber access token. For our own page: one of another origin, unless it is
 * named in the configuration, is refused with 403 before anything is read, so that no foreign page asks for passwords through its visitors.
 */
export const sessionRoute = (site: FastifyInstance, parts: SessionParts): void => {
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    const { origin, host } = request.headers
    if (parts.origins.trusts(origin, host)) return
    const facts = { code: 'not_permitted', source: request.ip, origin, request: request.id }
    parts.log.warn(facts, 'sign-in refused')
    throw new TrunklineError('not_permitted', 'Only our own page may sign in here.')
  }
  site.post<{ Body: Body }>(sessionPath, { onRequest, schema: { body } }, async (request, reply) => {
    const { email, password } = request.body
    // What the first limit refuses does not count for the second: nobody is to be locked out by a machine that may not try any more.
    const wait = parts.perAddress.take(networkKey(request.ip)) || parts.perEmail.take(email.toLowerCase())
    if (wait > 0) {
      reply.header('retry-after', Math.ceil(wait / 1000))
      parts.log.warn(
        { code: 'too_many_requests', source: request.ip, request: request.id },
        'sign-in refused',
      )
      throw new TrunklineError('too_many_requests')
    }
    const subscriber = await parts.directory.signIn(email, password)
    if (!subscriber) {
      parts.log.warn({ code: 'unauthorized', source: request.ip, request: request.id }, 'sign-in refused')
      throw new TrunklineError('unauthorized', 'The e-mail or the password is wrong.')
    }
    parts.perEmail.forget(email.toLowerCase())
    const { token, expiresAt } = await parts.tokens.issue(subscriber, parts.tokenSeconds)
    const { id, displayName, address } = subscriber
    reply.header('cache-control', 'no-store')
    return {
      token,
      expires_at: expiresAt,
      subscriber: { id, email: subscriber.email, display_name: displayName, address },
    }
  })
}
