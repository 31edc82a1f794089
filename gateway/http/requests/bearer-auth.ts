import type { FastifyRequest } from 'fastify'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import { identityOf, type TokenIdentity } from '../../auth/token-identity.ts'
import type { SubscriberTokens } from '../../auth/tokens.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Directory, Subscriber } from '../../directory/types.ts'

/** Who sends a request. */
export interface Bearer {
  readonly token: SubscriberToken
  readonly identity: TokenIdentity
}

/**
 * Who sends a request, by its `Authorization: Bearer` header (RFC 6750): a subscriber, a guest or an invited
 * one. Throws `unauthorized`.
 */
export type Authenticate = (request: FastifyRequest) => Promise<Bearer>

/** Makes it. */
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
 * Makes the `onRequest` hook of a route for who holds a token: `request.bearer` says who. A wrong body is not
 * looked at before that.
 */
export const requireBearer =
  (authenticate: Authenticate) =>
  async (request: FastifyRequest): Promise<void> => {
    request.bearer = await authenticate(request)
  }

/** Who sends a request to a route with {@link requireBearer}; throws `unauthorized` on any other. */
export const bearerOf = ({ bearer: found }: Pick<FastifyRequest, 'bearer'>): Bearer => {
  if (!found) throw new TrunklineError('unauthorized')
  return found
}

/** The subscriber in person; throws `not_permitted` for guests and those who were invited. */
export const subscriberOf = (request: Pick<FastifyRequest, 'bearer'>): Subscriber => {
  const { identity } = bearerOf(request)
  if (identity.kind !== 'subscriber' || !identity.subscriber)
    throw new TrunklineError('not_permitted', 'Only the subscriber may do this.')
  return identity.subscriber
}
