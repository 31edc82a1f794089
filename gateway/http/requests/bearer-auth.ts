import type { FastifyRequest } from 'fastify'
import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import { identityOf, type TokenIdentity } from '../../auth/token-identity.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Subscriber } from '../../directory/model/callers.ts'

/** Authenticated sender of a request. */
export interface Bearer {
  readonly token: SubscriberToken
  readonly identity: TokenIdentity
}

/**
 * Authenticates the sender of a request, who is a subscriber, guest or invited user, by the `Authorization:
 * Bearer` header (RFC 6750). Throws `unauthorized`.
 */
export type Authenticate = (request: FastifyRequest) => Promise<Bearer>

/** Returns the function that authenticates by subscriber access tokens. */
export const bearerAuth =
  (tokens: Pick<SubscriberTokens, 'verify'>, directory: Pick<Directory, 'subscriber'>): Authenticate =>
  async (request) => {
    const text = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (text === undefined)
      throw new TrunklineError('unauthorized', 'The Authorization header has no bearer token.')
    const token = await tokens.verify(text)
    const identity = identityOf(token, directory)
    if (!identity) throw new TrunklineError('unauthorized', 'The subscriber of the token does not exist.')
    return { token, identity }
  }

/**
 * Returns the `onRequest` hook of a route for token holders, which sets `request.bearer`. It runs before the
 * body is validated.
 */
export const requireBearer =
  (authenticate: Authenticate) =>
  async (request: FastifyRequest): Promise<void> => {
    request.bearer = await authenticate(request)
  }

/**
 * Returns the sender of a request to a route with {@link requireBearer}. Throws `unauthorized` on any other
 * route.
 */
export const bearerOf = ({ bearer: found }: Pick<FastifyRequest, 'bearer'>): Bearer => {
  if (!found) throw new TrunklineError('unauthorized')
  return found
}

/** Returns the subscriber of a request. Throws `not_permitted` for guests and invited users. */
export const subscriberOf = (request: Pick<FastifyRequest, 'bearer'>): Subscriber => {
  const { identity } = bearerOf(request)
  if (identity.kind !== 'subscriber' || !identity.subscriber)
    throw new TrunklineError('not_permitted', 'Only a subscriber’s own token permits this.')
  return identity.subscriber
}
